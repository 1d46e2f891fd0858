//! Signs requests as clients do, for tools that ask a server of DynamoDB.
//!
//! Invariant: what is signed here is authenticated by [`super::Credentials::check`] with the same
//! secret.

use super::canonical;
use super::claim::Claim;
use super::{ALGORITHM, SERVICE, SignedRequest, TERMINATOR, time};

/// The credentials of a client.
#[derive(Clone)]
pub struct Signer {
    /// The id of the key.
    pub key_id: String,
    /// Its secret.
    pub secret: String,
    /// The token of temporary credentials.
    pub token: Option<String>,
    /// The region that the credentials are for.
    pub region: String,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Signer").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl Signer {
    /// Returns the headers of a `POST` of an operation to `/`, signed at a time in milliseconds since
    /// the Unix epoch; `None` if the secret cannot be a key.
    #[must_use]
    pub fn headers(
        &self,
        host: &str,
        operation: &str,
        body: &[u8],
        now_ms: i64,
    ) -> Option<Vec<(&'static str, String)>> {
        let now = time::basic_format(now_ms.div_euclid(1000));
        let date = now.get(..8)?;
        let mut headers = vec![
            ("content-type", "application/x-amz-json-1.0".to_owned()),
            ("host", host.to_owned()),
            ("x-amz-date", now.clone()),
        ];
        headers.extend(self.token.clone().map(|token| ("x-amz-security-token", token)));
        headers.push(("x-amz-target", format!("DynamoDB_20120810.{operation}")));
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let (id, region, names) = (&self.key_id, &self.region, names.join(";"));
        let claimed = format!(
            "{ALGORITHM} Credential={id}/{date}/{region}/{SERVICE}/{TERMINATOR}, \
             SignedHeaders={names}, Signature="
        );
        let unsigned = format!("{claimed}{}", "0".repeat(64));
        let mut sent: Vec<(&str, &[u8])> =
            headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        sent.push(("authorization", unsigned.as_bytes()));
        let request = SignedRequest { method: "POST", path: "/", query: "", headers: sent, body };
        let claim = Claim::of(&request).ok()?;
        let scope = claim.scope().ok()?;
        let to_sign =
            canonical::string_to_sign(&now, &scope, &canonical::request(&request, &claim));
        let signature = canonical::signature(&self.secret, &scope, &to_sign)?;
        headers.push(("authorization", format!("{claimed}{signature}")));
        Some(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Credentials, SignedRequest};
    use super::Signer;

    #[test]
    fn a_signature_is_authenticated_by_its_secret_alone() {
        let now_ms = 1_440_938_160_000;
        let signer = Signer {
            key_id: "id".to_owned(),
            secret: "secret".to_owned(),
            token: Some("token".to_owned()),
            region: "eu-north-1".to_owned(),
        };
        let body = br#"{"TableName":"t"}"#;
        let headers = signer.headers("host:1", "GetItem", body, now_ms).unwrap();
        let sent = headers.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
        let request = SignedRequest { method: "POST", path: "/", query: "", headers: sent, body };
        let right = Credentials::new().with("id", "secret");
        assert_eq!(right.check(&request, now_ms).unwrap(), "id");
        assert!(Credentials::new().with("id", "other").check(&request, now_ms).is_err());
    }
}
