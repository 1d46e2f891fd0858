//! The arguments of one call: taken by place or by name, and none may be left over.

use goldenscript::{Argument, Command};

use super::runner::Answer;

pub(super) struct Args {
    positional: Vec<String>,
    named: Vec<(String, String)>,
}

impl Args {
    pub(super) fn of(command: &Command) -> Self {
        let (mut positional, mut named) = (Vec::new(), Vec::new());
        for argument in &command.args {
            match argument {
                Argument::KeyValue(name, value) => named.push((name.clone(), value.clone())),
                Argument::Positional(value) => positional.push(value.clone()),
                other => panic!("an argument of a new kind: {other:?}"),
            }
        }
        positional.reverse();
        Self { positional, named }
    }

    /// The next argument without a name.
    pub(super) fn next(&mut self, question: &'static str) -> Answer<String> {
        Ok(self.positional.pop().ok_or(question)?)
    }

    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.all(name).pop()
    }

    /// All arguments of a name, in order.
    pub(super) fn all(&mut self, name: &str) -> Vec<String> {
        let (found, others) =
            std::mem::take(&mut self.named).into_iter().partition(|(own, _)| own == name);
        self.named = others;
        let found: Vec<(String, String)> = found;
        found.into_iter().map(|(_, value)| value).collect()
    }

    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.take(name).as_deref() == Some("true")
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self, name: &str) -> Answer<Option<T>>
    where
        T::Err: std::error::Error + 'static,
    {
        Ok(self.take(name).map(|text| text.parse()).transpose()?)
    }

    /// What is left with a name: attributes.
    pub(super) fn attributes(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.named)
    }

    pub(super) fn end(self) -> Answer<()> {
        match (self.positional.last(), self.named.first()) {
            (None, None) => Ok(()),
            (Some(left), _) => Err(format!("what is {left}?").into()),
            (None, Some((name, _))) => Err(format!("what is {name}=?").into()),
        }
    }
}
