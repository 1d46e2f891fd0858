//! Published vectors, every refusal word by word, and every part of a request that a signature
//! covers.

use super::canonical;
use super::claim::Claim;
use super::{Credentials, Refusal, SignedRequest};
use crate::errors::Exception;

const KEY_ID: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const TIME: &str = "20150830T123600Z";
/// The same in milliseconds.
const NOW_MS: i64 = 1_440_938_160_000;

fn headers<'a>(pairs: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a [u8])> {
    pairs.iter().map(|(name, value)| (*name, value.as_bytes())).collect()
}

fn authorization(service: &str, region: &str, signed: &str, signature: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential={KEY_ID}/20150830/{region}/{service}/aws4_request, \
         SignedHeaders={signed}, Signature={signature}"
    )
}

/// A vector of the AWS Signature Version 4 test suite.
struct Vector {
    method: &'static str,
    path: &'static str,
    query: &'static str,
    headers: &'static [(&'static str, &'static str)],
    body: &'static str,
    signature: &'static str,
}

const fn get(path: &'static str, query: &'static str, signature: &'static str) -> Vector {
    Vector { method: "GET", path, query, headers: &[], body: "", signature }
}

const fn post(query: &'static str, signature: &'static str) -> Vector {
    Vector { method: "POST", ..get("/", query, signature) }
}

/// Each with its name there.
const VECTORS: [(&str, Vector); 9] = [
    (
        "get-vanilla",
        get("/", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    ),
    ("post-vanilla", post("", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b")),
    (
        "get-vanilla-query-order-key-case",
        get(
            "/",
            "Param2=value2&Param1=value1",
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
        ),
    ),
    (
        "post-vanilla-query",
        post("Param1=value1", "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11"),
    ),
    (
        "post-x-www-form-urlencoded",
        Vector {
            headers: &[("content-type", "application/x-www-form-urlencoded")],
            body: "Param1=value1",
            ..post("", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a")
        },
    ),
    (
        "get-header-value-trim",
        Vector {
            headers: &[("my-header1", " value1"), ("my-header2", " \"a   b   c\"")],
            ..get("/", "", "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736")
        },
    ),
    (
        "get-header-key-duplicate",
        Vector {
            headers: &[
                ("my-header1", "value2"),
                ("my-header1", "value2"),
                ("my-header1", "value1"),
            ],
            ..get("/", "", "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea")
        },
    ),
    ("get-utf8", get("/ሴ", "", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85")),
    (
        "get-vanilla-utf8-query",
        get("/", "ሴ=bar", "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
    ),
];

#[test]
fn the_published_vectors_are_met() {
    for (what, Vector { method, path, query, headers: more, body, signature }) in VECTORS {
        let mut names = vec!["host", "x-amz-date"];
        names.extend(more.iter().map(|(name, _)| *name));
        names.sort_unstable();
        names.dedup();
        let header = authorization("service", "us-east-1", &names.join(";"), signature);
        let mut all = headers(&[("host", "example.amazonaws.com"), ("x-amz-date", TIME)]);
        all.extend(headers(more));
        all.push(("authorization", header.as_bytes()));
        let request = SignedRequest { method, path, query, headers: all, body: body.as_bytes() };
        let claim = Claim::of(&request).unwrap();
        let scope = claim.scope().unwrap();
        let canonical = canonical::request(&request, &claim);
        let to_sign = canonical::string_to_sign(&claim.time, &scope, &canonical);
        let is_met = canonical::is_signature(SECRET, &scope, &to_sign, signature);
        assert!(is_met, "{what}: {canonical}");
        assert!(!canonical::is_signature("other", &scope, &to_sign, signature));
    }
}

const SIGNED: &str = "content-type;host;x-amz-date;x-amz-target";
const SIGNATURE: &str = "4c061d030af3e5f032f6f23fc28b104baa379ee97c7bd846a0a759e764f6c96a";

/// A request that is signed well, and may be spoilt.
#[derive(Clone)]
struct Sent {
    method: &'static str,
    path: &'static str,
    query: String,
    headers: Vec<(&'static str, String)>,
    body: &'static str,
    now_ms: i64,
}

impl Sent {
    fn well() -> Self {
        let header = authorization("dynamodb", "eu-central-1", SIGNED, SIGNATURE);
        let headers = [
            ("content-type", "application/x-amz-json-1.0"),
            ("host", "127.0.0.1:8000"),
            ("user-agent", "any"),
            ("x-amz-date", TIME),
            ("x-amz-target", "DynamoDB_20120810.ListTables"),
            ("authorization", &header),
        ];
        let headers = headers.into_iter().map(|(name, value)| (name, value.to_owned())).collect();
        Self {
            method: "POST",
            path: "/",
            query: String::new(),
            headers,
            body: "{}",
            now_ms: NOW_MS,
        }
    }

    /// The header form and the query form of one request.
    fn in_query() -> Self {
        let credential = "AKIDEXAMPLE%2F20150830%2Feu-central-1%2Fdynamodb%2Faws4_request";
        let signature = "ec6c3bd3e92c402320dadb31d7f8bbfb8f9a1d90a572655d4e12ccdca82ee5ce";
        let query = format!(
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={credential}&X-Amz-Date={TIME}&\
             X-Amz-SignedHeaders=host&X-Amz-Signature={signature}"
        );
        Self { query, headers: vec![("host", "127.0.0.1:8000".to_owned())], ..Self::well() }
    }

    fn set(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(own, _)| *own != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(own, _)| *own != name);
        self
    }

    /// Changes the Authorization header.
    fn authorized(self, from: &str, to: &str) -> Self {
        let (_, header) = self.headers.last().unwrap();
        assert!(header.contains(from), "{header}");
        let header = header.replacen(from, to, 1);
        self.set("authorization", &header)
    }

    fn check(&self) -> Result<String, Refusal> {
        let headers = self.headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let request = SignedRequest {
            method: self.method,
            path: self.path,
            query: &self.query,
            headers,
            body: self.body.as_bytes(),
        };
        Credentials::new().with("other", "secret").with(KEY_ID, SECRET).check(&request, self.now_ms)
    }

    fn refused(&self, exception: Exception, message: &str) {
        let expected = Refusal { exception, message: message.to_owned() };
        assert_eq!(self.check(), Err(expected));
    }
}

#[test]
fn a_request_is_let_in_with_the_key_that_it_was_signed_with() {
    assert_eq!(Sent::well().check().as_deref(), Ok(KEY_ID));
    assert_eq!(Sent::in_query().check().as_deref(), Ok(KEY_ID));
    // What is not signed may change on the way.
    assert_eq!(Sent::well().set("user-agent", "proxy").check().as_deref(), Ok(KEY_ID));
    let commas = Sent::well().authorized(", Signed", ",Signed").authorized(", Signa", ",Signa");
    assert_eq!(commas.check().as_deref(), Ok(KEY_ID));
    // A token of a session is taken and means nothing here.
    assert_eq!(Sent::well().set("x-amz-security-token", "t").check().as_deref(), Ok(KEY_ID));
    let dated = Sent::well().without("x-amz-date").set("date", "Sun, 30 Aug 2015 12:36:00 GMT");
    assert_ne!(dated.check().unwrap_err().exception, Exception::IncompleteSignature);
}

#[test]
fn whatever_is_signed_cannot_be_changed() {
    let wrong = "The request signature we calculated does not match the signature you provided. \
                 Check your AWS Secret Access Key and signing method. Consult the service \
                 documentation for details.";
    let well = Sent::well();
    for (what, sent) in [
        ("method", Sent { method: "GET", ..well.clone() }),
        ("path", Sent { path: "/x", ..well.clone() }),
        ("query", Sent { query: "a=b".to_owned(), ..well.clone() }),
        ("body", Sent { body: "{ }", ..well.clone() }),
        ("host", well.clone().set("host", "127.0.0.1:8001")),
        ("target", well.clone().set("x-amz-target", "DynamoDB_20120810.DeleteTable")),
        ("type", well.clone().set("content-type", "application/json")),
        ("time", well.clone().set("x-amz-date", "20150830T123601Z")),
        ("region", well.clone().authorized("eu-central-1", "eu-central-2")),
        ("another key", well.clone().authorized(KEY_ID, "other")),
        ("signature", well.clone().authorized("Signature=4c", "Signature=4d")),
        ("upper case", well.clone().authorized("4c061d030af3", "4C061D030AF3")),
        ("half a signature", well.clone().authorized(SIGNATURE, &SIGNATURE[..32])),
        ("no hexadecimal", well.clone().authorized("Signature=4c", "Signature=zz")),
        ("one digit less", well.clone().authorized("Signature=4c", "Signature=4")),
        ("body", Sent { body: "{ }", ..Sent::in_query() }),
    ] {
        let refusal = sent.check().unwrap_err();
        assert_eq!(refusal.message, wrong, "{what}");
        assert_eq!(refusal.exception, Exception::InvalidSignature, "{what}");
    }
    let query = Sent::in_query().query.replace("SignedHeaders=host", "SignedHeaders=host;a");
    Sent { query, ..Sent::in_query() }.refused(Exception::InvalidSignature, wrong);
}

#[test]
fn who_does_not_say_who_he_is_is_told_so() {
    let missing = "Request is missing Authentication Token";
    for sent in [
        Sent::well().without("authorization"),
        Sent::well().set("authorization", ""),
        Sent::well().set("authorization", "Bearer abc"),
        Sent { query: "X-Amz-Date=1".to_owned(), ..Sent::well().without("authorization") },
    ] {
        sent.refused(Exception::MissingAuthenticationToken, missing);
    }
    let twice = Sent { query: "X-Amz-Algorithm=x".to_owned(), ..Sent::well() };
    twice.refused(
        Exception::InvalidSignature,
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.",
    );
}

#[test]
fn parts_that_are_missing_are_named() {
    Sent::well().set("authorization", "AWS4-HMAC-SHA256 a").without("x-amz-date").refused(
        Exception::IncompleteSignature,
        "Authorization header requires 'Credential' parameter. Authorization header requires \
         'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. \
         Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. \
         Authorization=AWS4-HMAC-SHA256 a",
    );
    let sent =
        Sent::well().set("authorization", "AWS4-X Credential=a Signature= SignedHeaders=host");
    sent.refused(
        Exception::IncompleteSignature,
        "Authorization header requires 'Signature' parameter. Authorization=AWS4-X Credential=a \
         Signature= SignedHeaders=host",
    );
    let query = "X-Amz-Algorithm=a&X-Amz-Signature=b&X-Amz-Date".to_owned();
    Sent { query, ..Sent::in_query() }.refused(
        Exception::IncompleteSignature,
        "AWS query-string parameters must include 'X-Amz-Credential'. AWS query-string parameters \
         must include 'X-Amz-SignedHeaders'. AWS query-string parameters must include \
         'X-Amz-Date'. Re-examine the query-string parameters.",
    );
    let long = format!("AWS4-HMAC-SHA256 {}", "x".repeat(1_000_000));
    let refusal = Sent::well().set("authorization", &long).check().unwrap_err();
    assert_eq!(refusal.exception, Exception::IncompleteSignature);
    assert!(refusal.message.len() < 100, "a megabyte is not sent back");
}

#[test]
fn times_far_from_ours_are_refused() {
    let at = |seconds: i64| Sent { now_ms: NOW_MS + seconds * 1000, ..Sent::well() };
    for seconds in [-900, 0, 900] {
        assert_eq!(at(seconds).check().as_deref(), Ok(KEY_ID), "{seconds}");
    }
    at(901).refused(
        Exception::InvalidSignature,
        "Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z \
         (20150830T125101Z - 15 min.)",
    );
    at(-901).refused(
        Exception::InvalidSignature,
        "Signature not yet current: 20150830T123600Z is still later than 20150830T123559Z \
         (20150830T122059Z + 15 min.)",
    );
    Sent::well().set("x-amz-date", "201").refused(
        Exception::IncompleteSignature,
        "Date must be in ISO-8601 'basic format'. Got '201'. See \
         http://en.wikipedia.org/wiki/ISO_8601",
    );
}

#[test]
fn the_host_and_the_target_must_be_signed() {
    let unsigned =
        |name: &str| format!("'{name}' must be a 'SignedHeader' in the AWS Authorization.");
    let signed = |to: &str| Sent::well().authorized(SIGNED, to);
    signed("x-amz-date;x-amz-target").refused(Exception::InvalidSignature, &unsigned("Host"));
    signed("host;x-amz-date").refused(Exception::InvalidSignature, &unsigned("x-amz-target"));
    let unsent = signed("host;x-amz-date").without("x-amz-target");
    assert!(unsent.check().unwrap_err().message.starts_with("The request signature"));
}

#[test]
fn algorithm_and_credential_are_checked_before_the_key() {
    Sent::well().authorized("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256").refused(
        Exception::IncompleteSignature,
        "Unsupported AWS 'algorithm': 'AWS4-ECDSA-P256-SHA256' (only AWS4-HMAC-SHA256 for now). ",
    );
    let credential = "AKIDEXAMPLE/20150830/eu-central-1/dynamodb/aws4_request";
    let with = |to: &str| Sent::well().authorized(credential, to);
    for parts in ["a/b/c/d", "a/b/c/d/e/f", "a"] {
        with(parts).refused(
            Exception::IncompleteSignature,
            &format!(
                "Credential must have exactly 5 slash-delimited elements, e.g. \
                 keyid/date/region/service/term, got '{parts}'"
            ),
        );
    }
    with("nobody/b//d/e").refused(
        Exception::InvalidSignature,
        "Credential should be scoped to a valid region, not ''. Credential should be scoped to \
         correct service: 'dynamodb'. Credential should be scoped with a valid terminator: \
         'aws4_request', not 'e'. Date in Credential scope does not match YYYYMMDD from ISO-8601 \
         version of date from HTTP: 'b' != '20150830', from '20150830T123600Z'. ",
    );
    Sent::well().authorized(KEY_ID, "nobody").refused(
        Exception::UnrecognizedClient,
        "The security token included in the request is invalid.",
    );
}

#[test]
fn secrets_are_not_shown() {
    let credentials = Credentials::new().with(KEY_ID, SECRET);
    assert_eq!(format!("{credentials:?}"), "{\"AKIDEXAMPLE\"}");
    assert!(Credentials::new().is_empty() && !credentials.is_empty());
}
