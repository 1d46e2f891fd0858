//! Encodes the body of an error.

use super::{Error, Exception, texts};
use crate::json::{Writer, put_item};

impl Error {
    /// Returns the JSON for the client.
    pub(crate) fn body(&self) -> Vec<u8> {
        let (namespace, name) = self.exception.name();
        Writer::body(|out| {
            out.name("__type").text(&format!("{namespace}#{name}"));
            if self.enveloped {
                out.name(self.exception.message_member()).text(&texts::envelope(&self.message));
            } else if !self.message.is_empty() {
                out.name(self.exception.message_member()).text(&self.message);
            }
            if let Some(item) = &self.item {
                out.name("Item");
                put_item(out, item);
            }
            if self.exception == Exception::TransactionCanceled {
                out.name("CancellationReasons").list(|out| self.put_reasons(out));
            }
        })
    }

    fn put_reasons(&self, out: &mut Writer) {
        for reason in &self.reasons {
            out.object(|out| {
                out.name("Code").text(reason.code());
                if let Some((_, message)) = &reason.fault {
                    out.name("Message").text(message);
                }
                if let Some(item) = &reason.item {
                    out.name("Item");
                    put_item(out, item);
                }
            });
        }
    }
}
