//! Counts of numbers by size: exact up to 8, then eight classes for each doubling.
//!
//! Invariant: it takes the same memory whatever is counted.

use shelfmark_admin::Spread;

/// Classes of each doubling, and numbers that have a class of their own.
const STEPS: u32 = 8;
/// Doublings that are told apart; what is larger is in the last class. Source: ours; 2^43 microseconds are
/// a hundred days.
const DOUBLINGS: usize = 40;
const CLASSES: usize = (DOUBLINGS + 1) * STEPS as usize;
const STEPS_U64: u64 = STEPS as u64;

/// Counts of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    classes: Box<[u32; CLASSES]>,
    count: u64,
    max: u64,
    sum: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { classes: Box::new([0; CLASSES]), count: 0, max: 0, sum: 0 }
    }
}

impl Histogram {
    /// Counts a number.
    pub(crate) fn add(&mut self, number: u64) {
        if let Some(class) = self.classes.get_mut(class_of(number)) {
            *class = class.saturating_add(1);
        }
        self.count += 1;
        self.max = self.max.max(number);
        self.sum = self.sum.saturating_add(number);
    }

    /// Returns the figures.
    pub(crate) fn spread(&self) -> Spread {
        let (p50, p99) = (self.below(50), self.below(99));
        Spread { p50, p99, max: self.max, sum: self.sum }
    }

    /// Returns a number that so many of a hundred are not above.
    fn below(&self, percent: u64) -> u64 {
        let wanted = (self.count * percent).div_ceil(100);
        let mut seen = 0;
        for (class, count) in self.classes.iter().enumerate() {
            seen += u64::from(*count);
            if seen >= wanted {
                return last_of(class).min(self.max);
            }
        }
        self.max
    }
}

/// Returns the class of a number.
fn class_of(number: u64) -> usize {
    if number < STEPS_U64 {
        return usize::try_from(number).unwrap_or_default();
    }
    let doublings = number.ilog2() - STEPS.ilog2();
    let step = (number >> doublings) - STEPS_U64;
    let class = (u64::from(doublings) + 1) * STEPS_U64 + step;
    usize::try_from(class).unwrap_or(usize::MAX).min(CLASSES - 1)
}

/// Returns the largest number of a class.
fn last_of(class: usize) -> u64 {
    let class = class as u64;
    if class < STEPS_U64 {
        return class;
    }
    let doublings = class / STEPS_U64 - 1;
    ((STEPS_U64 + class % STEPS_U64 + 1) << doublings) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_within_an_eighth_of_its_class() {
        let edges =
            (0..50).map(|exponent| 1_u64 << exponent).flat_map(|own| [own - 1, own, own + 1]);
        for number in (0..2_000).chain(edges).filter(|own| *own < 1 << DOUBLINGS) {
            let last = last_of(class_of(number));
            assert!(last >= number && last - number <= number / 8, "{number}: {last}");
        }
    }

    #[test]
    fn figures_are_of_the_numbers_counted() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.spread(), Spread::default());
        (1..=100).for_each(|number| histogram.add(number));
        let spread = histogram.spread();
        assert!((50..=56).contains(&spread.p50) && (99..=100).contains(&spread.p99), "{spread:?}");
        assert_eq!((spread.max, spread.sum), (100, 5_050));
        histogram.add(u64::MAX);
        assert_eq!(histogram.spread().max, u64::MAX);
    }
}
