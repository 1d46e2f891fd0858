//! Negotiates the compression of an answer by the header `Accept-Encoding`, as the service reads
//! it.
//!
//! Source: the service's answers to odd headers, as the tests of an open-source server record
//! them, read 2026-11. Where they differ from RFC 9110, they are followed: the identity coding has
//! no weight, weights that are no numbers count as 1, and of several the first counts.

/// A compression that answers may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Gzip,
    Deflate,
}

impl Coding {
    /// Every coding, the preferred one first.
    const ALL: [Self; 2] = [Self::Gzip, Self::Deflate];

    /// Returns the name in headers.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
        }
    }
}

/// Returns the coding that a client prefers; `None` for no compression.
pub(crate) fn accepted(header: &str) -> Option<Coding> {
    let mut named: Vec<(Coding, f64)> = Vec::new();
    let mut any = 0.0;
    for element in header.split(',') {
        let mut parameters = element.split(';');
        let name = parameters.next().unwrap_or("").trim();
        let weight = weight(parameters);
        if name == "*" {
            any = weight;
        }
        let coding = Coding::ALL.into_iter().find(|own| own.name().eq_ignore_ascii_case(name));
        named.extend(coding.map(|coding| (coding, weight)));
    }
    for coding in Coding::ALL {
        if !named.iter().any(|(other, _)| *other == coding) {
            named.push((coding, any));
        }
    }
    // Of equal weights the first wins: the client's order, then ours.
    let best = named.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
    if best <= 0.0 {
        return None;
    }
    named.iter().find(|(_, weight)| *weight >= best).map(|(coding, _)| *coding)
}

/// Returns the weight (`q`) among an element's parameters, from 0 to 1.
fn weight<'a>(parameters: impl Iterator<Item = &'a str>) -> f64 {
    for parameter in parameters {
        let Some((name, value)) = parameter.split_once('=') else { continue };
        if name.trim().eq_ignore_ascii_case("q") {
            let weight: f64 = value.trim().parse().unwrap_or(1.0);
            return if weight.is_nan() { 1.0 } else { weight.clamp(0.0, 1.0) };
        }
    }
    1.0
}

#[cfg(test)]
mod tests {
    use super::Coding::{Deflate, Gzip};
    use super::*;

    #[test]
    fn what_the_service_answers_with() {
        let expected = [
            ("", None),
            ("identity", None),
            ("br", None),
            ("x-gzip", None),
            ("gzip", Some(Gzip)),
            ("GZIP, identity", Some(Gzip)),
            ("gzip, deflate", Some(Gzip)),
            ("br, identity, deflate, gzip", Some(Deflate)),
            ("dog, gzip ,, cat", Some(Gzip)),
            ("gzip;q=0.8, deflate;q=0.5", Some(Gzip)),
            ("deflate;q=0.5, gzip;q=0.2", Some(Deflate)),
            ("br, gzip;q=0, deflate; q = 0.5 , identity;q=0", Some(Deflate)),
            ("gzip;q=0.5,identity;q=0.8", Some(Gzip)),
            ("gzip ;q=0", None),
            ("*", Some(Gzip)),
            ("*, deflate", Some(Deflate)),
            ("*, deflate;q=0.5", Some(Gzip)),
            ("*, gzip;q=0.5", Some(Deflate)),
            ("*;q=0.5,identity", Some(Gzip)),
            ("*;q=0", None),
            ("br;q=0.8,identity;q=0.5,*;q=0", None),
            ("\"gzip\"", None),
            ("gzip br", None),
            ("gzip:q=1", None),
            ("gzip;q=31,deflate;q=51", Some(Gzip)),
            ("deflate;q=0.5, gzip;q=1;q=0.2", Some(Gzip)),
            ("deflate;q=0.5,gzip;q=0.", Some(Deflate)),
            ("deflate;q=0.5,gzip;q=0.x", Some(Gzip)),
            ("deflate;q=-0.5,gzip;q=0.2", Some(Gzip)),
            ("gzip;nq=1;q=0 ", None),
            ("gzip;q=nan", Some(Gzip)),
        ];
        for (header, coding) in expected {
            assert_eq!(accepted(header), coding, "{header:?}");
        }
    }
}
