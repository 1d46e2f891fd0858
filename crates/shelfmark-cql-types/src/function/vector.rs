//! Similarity of vectors of floats.

use shelfmark_cql_protocol::CqlError;

use super::resolve::untyped_argument;
use super::scalar::Scalar;
use crate::value::CqlType;

/// A measure of how similar two vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Similarity {
    /// The cosine of the angle between them.
    Cosine,
    /// The distance between them.
    Euclidean,
    /// The dot product of the vectors.
    DotProduct,
}

/// The names of the similarities as options of indexes, in the order in which they are told.
pub const SIMILARITIES: [(&str, Similarity); 3] = [
    ("EUCLIDEAN", Similarity::Euclidean),
    ("DOT_PRODUCT", Similarity::DotProduct),
    ("COSINE", Similarity::Cosine),
];

impl Similarity {
    /// Returns the similarity that the options of an index name; cosine by default.
    pub fn of_options(options: &[(String, String)]) -> Self {
        let said = options.iter().find(|(name, _)| name == "similarity_function");
        let found = said.and_then(|(_, said)| {
            SIMILARITIES.iter().find(|(name, _)| name.eq_ignore_ascii_case(said))
        });
        found.map_or(Self::Cosine, |(_, own)| *own)
    }

    fn of(self, a: &[f32], b: &[f32]) -> f32 {
        match self {
            Self::Cosine => {
                let (dot, left, right) = products(a, b);
                (1.0 + dot / (left * right).sqrt()) / 2.0
            }
            Self::Euclidean => {
                let distance: f32 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
                1.0 / (1.0 + distance)
            }
            Self::DotProduct => (1.0 + products(a, b).0) / 2.0,
        }
    }

    /// Returns how similar two serialised vectors are; `None` if they have no angle and it is asked for.
    pub fn score(self, a: &[u8], b: &[u8]) -> Option<f32> {
        Some(self.of(&floats(a), &floats(b))).filter(|score| !score.is_nan())
    }

    /// Checks that a serialised vector can be compared with others.
    ///
    /// # Errors
    ///
    /// * `Invalid`: it has no direction, and the measure is an angle.
    pub fn check(self, vector: &[u8]) -> Result<(), CqlError> {
        if self == Self::Cosine && floats(vector).iter().all(|value| *value == 0.0) {
            return Err(CqlError::invalid(
                "Zero and near-zero vectors cannot be indexed or queried with cosine similarity",
            ));
        }
        Ok(())
    }
}

/// Returns the functions of this module by name.
pub(super) fn candidates(
    name: &str,
    arguments: &[Option<CqlType>],
    texts: &[String],
) -> Result<Option<Vec<Scalar>>, CqlError> {
    let similarity = match name {
        "similarity_cosine" => Similarity::Cosine,
        "similarity_euclidean" => Similarity::Euclidean,
        "similarity_dot_product" => Similarity::DotProduct,
        _ => return Ok(None),
    };
    if arguments.len() != 2 {
        return Err(CqlError::invalid(format!(
            "Invalid number of arguments for function system.{name}(vector<float, n>, vector<float, n>)"
        )));
    }
    let is_float =
        |ty: &CqlType| matches!(ty, CqlType::Vector { element, .. } if **element == CqlType::Float);
    let is_vector = |ty: &Option<CqlType>| matches!(ty, Some(CqlType::Vector { .. }));
    let wrong = arguments.iter().zip(texts).find_map(|(ty, text)| match ty {
        // The members of lists are looked at later.
        Some(CqlType::List { .. }) | None => None,
        Some(ty) => (!is_float(ty)).then_some((ty, text)),
    });
    let place =
        arguments.iter().position(is_vector).or_else(|| arguments.iter().position(Option::is_some));
    let Some((ty, text)) =
        place.and_then(|at| Some((arguments.get(at)?.as_ref()?, texts.get(at)?)))
    else {
        let text = texts.first().map_or("?", String::as_str);
        return Err(untyped_argument(text, &format!("{name}(vector<float, n>, vector<float, n>)")));
    };
    if let Some((ty, text)) = wrong.or((!is_float(ty)).then_some((ty, text))) {
        return Err(CqlError::invalid(format!(
            "Function system.{name} requires a float vector argument, but found argument {text} of type {ty}"
        )));
    }
    let dimensions = arguments.iter().filter_map(|ty| match ty {
        Some(CqlType::Vector { dimension, .. }) => Some(*dimension),
        _ => None,
    });
    let dimensions: Vec<u32> = dimensions.collect();
    if dimensions.first() != dimensions.last() {
        return Err(CqlError::invalid("All arguments must have the same vector dimensions"));
    }
    let cosine = similarity == Similarity::Cosine;
    let shown = name.to_owned();
    let scalar =
        Scalar::strict(name, vec![ty.clone(), ty.clone()], CqlType::Float, move |values| {
            let &[a, b] = values else { return Ok(None) };
            let (a, b) = (floats(a), floats(b));
            if a.len() != b.len() {
                return Err(CqlError::invalid(
                    "All arguments must have the same vector dimensions".to_owned(),
                ));
            }
            let is_zero = |all: &[f32]| all.iter().all(|value| *value == 0.0);
            if cosine && (is_zero(&a) || is_zero(&b)) {
                return Err(CqlError::invalid(format!(
                    "Function system.{shown} doesn't support all-zero vectors."
                )));
            }
            Ok(Some(similarity.of(&a, &b).to_be_bytes().to_vec()))
        });
    Ok(Some(vec![scalar]))
}

/// Returns the floats of a serialised vector.
fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_be_bytes(*bytes)).collect()
}

/// Returns the product of two vectors and the squares of their lengths.
fn products(a: &[f32], b: &[f32]) -> (f32, f32, f32) {
    a.iter().zip(b).fold((0.0, 0.0, 0.0), |(dot, left, right), (a, b)| {
        (dot + a * b, left + a * a, right + b * b)
    })
}
