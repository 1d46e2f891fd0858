//! `describe`, `show`, `help`.

use shelfmark_cql_syntax::{quoted_name, quoted_string};
use shelfmark_cql_types::class_name;

use super::backend::{Backend, Reply};
use super::client::Client;
use super::family::{Family, index_names, load, table_names};
use super::tree::Command;

/// The version of the Thrift interface that the client of Cassandra 1.0 spoke.
///
/// Source: `cassandra.thrift` of Apache Cassandra 1.0, read 2026-11.
const API_VERSION: &str = "19.20.0";

impl<B: Backend> Client<B> {
    pub(super) fn inform(&mut self, command: &Command) -> Result<Reply, String> {
        match command {
            Command::Describe(name) => self.describe(name.as_deref()),
            Command::DescribeCluster => self.describe_cluster(),
            Command::DescribeRing(name) => self.describe_ring(name.as_deref()),
            Command::ShowKeyspaces => self.show_keyspaces(),
            Command::ShowSchema(name) => self.show_schema(name.as_deref()),
            Command::ShowClusterName => {
                Ok(Reply::line(self.one_text("SELECT cluster_name FROM system.local")?))
            }
            Command::ShowApiVersion => Ok(Reply::line(API_VERSION)),
            Command::Help(words) => Ok(help(words)),
            _ => Err("that command is not answered here.".to_owned()),
        }
    }

    /// Shows the one range of tokens, which begins and ends at the least one, and who holds it.
    fn describe_ring(&mut self, name: Option<&str>) -> Result<Reply, String> {
        match name {
            Some(name) => drop(self.known_keyspace(name)?),
            None => drop(self.working_keyspace()?),
        }
        let table = self.backend.run(
            "SELECT listen_address, data_center, rack FROM system.local WHERE key = 'local'",
        )?;
        let column =
            |at: usize| table.rows.first().and_then(|row| table.text(row, at)).unwrap_or_default();
        let (host, center, rack) = (column(0), column(1), column(2));
        let token = i64::MIN;
        let mut reply = Reply::line("TOKEN RANGES:");
        reply.say(format!(
            "\tTokenRange(start_token:{token}, end_token:{token}, endpoints:[{host}], \
             rpc_endpoints:[{host}], endpoint_details:[EndpointDetails(host:{host}, \
             datacenter:{center}, rack:{rack})])"
        ));
        Ok(reply)
    }

    fn describe(&mut self, name: Option<&str>) -> Result<Reply, String> {
        let mut reply = Reply::default();
        let Some(name) = name else {
            let keyspace = self.working_keyspace()?;
            self.describe_keyspace(&mut reply, &keyspace)?;
            return Ok(reply);
        };
        if let Some(keyspace) = self.keyspace.clone()
            && let Ok(family) = load(&mut self.backend, &keyspace, name)
        {
            self.describe_family(&mut reply, &keyspace, &family)?;
            return Ok(reply);
        }
        let keyspace = self.known_keyspace(name).map_err(|_| {
            format!("Sorry, no Keyspace nor (non-CQL3) ColumnFamily was found with name: {name}")
        })?;
        self.describe_keyspace(&mut reply, &keyspace)?;
        Ok(reply)
    }

    fn describe_keyspace(&mut self, reply: &mut Reply, keyspace: &str) -> Result<(), String> {
        let table = self.backend.run(&format!(
            "SELECT replication, durable_writes FROM system_schema.keyspaces \
             WHERE keyspace_name = {}",
            quoted_string(keyspace)
        ))?;
        let row = table.rows.first().ok_or_else(|| format!("Keyspace '{keyspace}' not found."))?;
        let replication = table
            .types
            .first()
            .map(|kind| {
                shelfmark_cql_types::to_literal(kind, row.first().and_then(Option::as_deref))
            })
            .unwrap_or_default();
        reply.say(format!("Keyspace: {keyspace}:"));
        reply.say(format!("  Replication: {replication}"));
        reply.say(format!("  Durable Writes: {}", table.text(row, 1).unwrap_or_default()));
        reply.say("  Column Families:");
        for name in table_names(&mut self.backend, keyspace)? {
            // Tables that CQL made have no place in this description.
            if let Ok(family) = load(&mut self.backend, keyspace, &name) {
                self.describe_family(reply, keyspace, &family)?;
            }
        }
        Ok(())
    }

    fn describe_family(
        &mut self,
        reply: &mut Reply,
        keyspace: &str,
        family: &Family,
    ) -> Result<(), String> {
        let kind = if family.is_super() { " (Super)" } else { "" };
        reply.say(format!("    ColumnFamily: {}{kind}", family.name));
        reply.say(format!("      Key Validation Class: {}", class_name(&family.key)));
        reply.say(format!("      Default column value validator: {}", class_name(&family.value)));
        let sorted: Vec<String> = family
            .names
            .iter()
            .map(|(_, part, reversed)| {
                let class = class_name(part);
                if *reversed {
                    format!("org.apache.cassandra.db.marshal.ReversedType({class})")
                } else {
                    class
                }
            })
            .collect();
        reply.say(format!("      Columns sorted by: {}", sorted.join("/")));
        if family.declared.is_empty() {
            return Ok(());
        }
        let indexes = index_names(&mut self.backend, keyspace, &family.name)?;
        reply.say("      Column Metadata:");
        for (name, cql_type) in &family.declared {
            reply.say(format!("        Column Name: {name}"));
            reply.say(format!("          Validation Class: {}", class_name(cql_type)));
            if let Some((_, index)) = indexes.iter().find(|(column, _)| column == name) {
                reply.say(format!("          Index Name: {index}"));
                reply.say("          Index Type: KEYS");
            }
        }
        Ok(())
    }

    fn describe_cluster(&mut self) -> Result<Reply, String> {
        let table = self
            .backend
            .run("SELECT partitioner, schema_version, listen_address FROM system.local")?;
        let row = table.rows.first().ok_or("the cluster says nothing of itself.")?;
        let text = |column| table.text(row, column).unwrap_or_default();
        let mut reply = Reply::line("Cluster Information:");
        reply.say(format!("   Partitioner: {}", text(0)));
        reply.say("   Schema versions:");
        reply.say(format!("\t{}: [{}]", text(1), text(2)));
        Ok(reply)
    }

    fn show_keyspaces(&mut self) -> Result<Reply, String> {
        let table = self.backend.run("SELECT keyspace_name FROM system_schema.keyspaces")?;
        let mut reply = Reply::default();
        for row in &table.rows {
            if let Some(name) = table.text(row, 0) {
                self.describe_keyspace(&mut reply, &name)?;
            }
        }
        Ok(reply)
    }

    /// Prints the schema as the CQL that makes it, which is what reads it back.
    fn show_schema(&mut self, name: Option<&str>) -> Result<Reply, String> {
        let keyspace = match name {
            Some(name) => self.known_keyspace(name)?,
            None => self.working_keyspace()?,
        };
        let table = self.backend.run(&format!("DESCRIBE KEYSPACE {}", quoted_name(&keyspace)))?;
        let mut reply = Reply::default();
        for row in &table.rows {
            if let Some(statement) = table.text(row, 3) {
                reply.say(statement);
            }
        }
        Ok(reply)
    }
}

/// The commands and their forms, of our own words.
const HELP: [(&str, &str); 21] = [
    ("assume", "assume CF keys|comparator|sub_comparator|validator as TYPE;"),
    ("connect", "connect HOST/PORT [USER 'PASSWORD'];"),
    ("consistencylevel", "consistencylevel as LEVEL;"),
    ("count", "count CF[KEY]; count CF[KEY][SUPER];"),
    ("create column family", "create column family CF with comparator = TYPE and …;"),
    (
        "create keyspace",
        "create keyspace K with placement_strategy = '…' and strategy_options = {…};",
    ),
    ("decr", "decr CF[KEY][COLUMN] [by N];"),
    ("del", "del CF[KEY]; del CF[KEY][COLUMN];"),
    ("describe", "describe; describe K; describe CF; describe cluster;"),
    ("drop", "drop keyspace K; drop column family CF; drop index on CF.COLUMN;"),
    ("exit", "exit; quit;"),
    (
        "get",
        "get CF[KEY]; get CF[KEY][COLUMN] [as TYPE] [limit N]; get CF where COLUMN = VALUE [and …];",
    ),
    ("help", "help [COMMAND]; ?"),
    ("incr", "incr CF[KEY][COLUMN] [by N];"),
    ("list", "list CF; list CF[START:END] [limit N];"),
    (
        "set",
        "set CF[KEY][COLUMN] = VALUE [with ttl = SECONDS]; set CF[KEY][SUPER][COLUMN] = VALUE;",
    ),
    ("show", "show keyspaces; show schema [K]; show cluster name;"),
    ("truncate", "truncate CF;"),
    ("update column family", "update column family CF with …;"),
    ("update keyspace", "update keyspace K with …;"),
    ("use", "use K [USER 'PASSWORD'];"),
];

fn help(words: &str) -> Reply {
    let mut reply = Reply::default();
    for (name, form) in HELP {
        if words.is_empty() || name.starts_with(words) || words.starts_with(name) {
            reply.say(form);
        }
    }
    if reply.lines.is_empty() {
        reply.say(format!("There is no command {words}."));
    }
    reply
}
