//! Ends of ranges beside texts that lie on this side of them, and on the other.

use super::is_outside;
use shelfmark_design_language::model::schema::Part;
use shelfmark_design_language::syntax::tree::BoundKind;

/// A text that differs from an end lies before or behind it, whatever follows; one that does not may lie
/// anywhere.
#[test]
fn texts_lie_on_one_side_of_an_end() {
    let part = |text: &str| vec![Part::Literal(text.to_owned())];
    let outside = |kind, own: &str| is_outside(kind, &part("m#"), &part(own));
    for kind in [BoundKind::From, BoundKind::After] {
        assert!(outside(kind, "c#") && !outside(kind, "x#"), "{kind:?}");
    }
    for kind in [BoundKind::To, BoundKind::Before, BoundKind::Through] {
        assert!(outside(kind, "x#") && !outside(kind, "c#"), "{kind:?}");
    }
    assert!(outside(BoundKind::Begins, "x#") && outside(BoundKind::Begins, "c#"));
    for kind in [BoundKind::From, BoundKind::To, BoundKind::Begins] {
        assert!(!outside(kind, "m") && !outside(kind, "m#more"), "{kind:?}");
        assert!(!is_outside(kind, &[Part::End], &part("c#")), "{kind:?}");
    }
}
