//! Checks what every driver must do, case by case.
//!
//! A case gets a lane: a driver with an empty store. Nothing here knows which driver it is, but for
//! what a lane answers: whether it keeps anything over a reopen, and whether `latest` may be behind.
//! Errors are never injected here.

mod additions;
mod atomic;
mod bounds;
mod closing;
mod hammer;
mod limits;
mod order;
mod ranges;
mod read_ranges;
mod snapshots;
mod stamps;
mod validation;

use crate::case::Case;

/// Calls the macro `$then` with the names of all cases of the contract, group by group: `group { case,
/// … } …`, so that tests of drivers are a function each.
#[macro_export]
macro_rules! every_case {
    ($then:ident) => {
        $then! {
            additions {
                additions_that_saw_the_same_value_are_both_made,
                an_addition_to_another_value_than_was_seen_is_a_conflict,
                who_rests_on_a_value_meets_additions_to_it,
                additions_side_by_side_lose_nothing,
            }
            atomic {
                a_commit_is_there_wholly_once_it_is_acknowledged,
                the_last_write_of_a_key_in_a_commit_counts,
                a_refused_commit_leaves_nothing,
                no_reader_sees_half_a_commit,
                an_empty_commit_ends_after_everything_before_it,
                commits_that_were_submitted_end_in_the_order_of_their_numbers,
            }
            order {
                rows_come_in_the_order_of_their_bytes,
                a_range_has_its_start_and_not_its_end,
                a_page_ends_where_its_limits_say,
                keys_only_leaves_the_values_out,
                a_prefix_is_a_range,
                a_scan_goes_on_after_any_row,
                many_keys_are_answered_in_their_order,
            }
            snapshots {
                a_snapshot_shows_one_moment,
                a_snapshot_outlives_flushes,
                latest_shows_what_is_queued,
                a_snapshot_shows_every_acknowledged_commit,
                snapshots_are_counted,
                a_view_at_its_first_read_shows_one_moment,
                a_preload_changes_no_answer,
                no_commit_rests_on_a_view_that_was_not_read,
            }
            validation {
                a_written_key_is_a_conflict,
                a_created_key_is_a_conflict,
                a_deleted_key_is_a_conflict,
                an_unwritten_key_is_none,
                a_conflict_names_the_keys,
                validation_survives_flushes,
                validation_sees_what_is_queued,
                a_commit_may_build_on_what_is_queued,
                keys_are_validated_without_writing,
                keys_to_validate_need_a_base,
                put_if_absent_needs_an_absent_key,
                put_if_absent_asks_the_store_and_not_the_commit,
                one_of_many_puts_if_absent,
                no_update_is_lost,
            }
            stamps {
                numbers_are_consecutive,
                a_stamp_is_the_number_of_its_commit,
                no_stamp_is_passed_by_a_reader,
                counters_count,
                counters_sum_what_many_add,
                a_counter_over_something_else_is_corrupt,
                additions_act_in_their_place_in_a_commit,
                counters_wrap_around,
            }
            limits {
                keys_up_to_the_limit,
                values_up_to_the_limit,
                commits_up_to_the_limit,
                so_many_writes_and_no_more,
                nothing_is_empty,
            }
            bounds {
                a_snapshot_gets_too_old_by_time,
                a_snapshot_gets_too_old_by_bytes,
                a_commit_on_an_old_snapshot_is_refused,
            }
            ranges {
                a_destroyed_range_is_gone_and_nothing_else,
                boundaries_lie_inside_and_ascend,
                parts_between_boundaries_make_the_whole,
            }
            read_ranges {
                every_kind_of_write_into_a_range_is_a_conflict,
                neighbours_of_a_range_are_none,
                what_is_queued_counts_and_what_the_base_has_does_not,
                ranges_are_validated_over_flushes_and_many_groups,
                a_transaction_notes_what_it_covered,
                one_of_many_fills_an_empty_range,
            }
            closing {
                a_closed_store_says_so,
                closing_ends_what_was_queued,
                what_was_acknowledged_is_there_after_a_reopen,
                what_was_acknowledged_is_there_after_a_crash,
            }
            hammer {
                many_threads_leave_what_they_should,
            }
        }
    };
}

/// Makes the list of cases of their names.
macro_rules! list {
    ($($group:ident { $($case:ident,)* })*) => {
        /// The cases of the contract.
        pub const CONTRACT: &[Case] = &[
            $($(Case::fixed(stringify!($group), stringify!($case), $group::$case),)*)*
        ];
    };
}

every_case!(list);

/// Returns the case of the contract that is called `name`.
///
/// # Panics
///
/// * There is none.
#[must_use]
pub fn contract(name: &str) -> &'static Case {
    let found = CONTRACT.iter().find(|case| case.name == name);
    found.unwrap_or_else(|| panic!("the contract has no case {name}"))
}
