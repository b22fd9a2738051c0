//! Tables: their creation and version.

use tokio_postgres::{Client, SimpleQueryMessage};

use super::failure::Failure;
use super::names::Names;
use crate::store::StoreError;

/// Version of the tables.
const VERSION: &str = "1";
/// Advisory lock of the creation, `trnltask` in ASCII.
const LOCK: i64 = 0x7472_6e6c_7461_736b;
/// Number of rows that count the tasks of one owner. Changes of one owner wait for each other only if they share a row.
const PARTS: u8 = 8;

/// Checks the version of the tables, and creates them if there are none.
pub(super) async fn prepare(client: &Client, names: &Names) -> Result<(), Failure> {
    if !exists(client, &names.format()).await? {
        create(client, names).await?;
    }
    let query = format!("SELECT version FROM {}", names.format());
    let version = value(client, &query).await?;
    if version.as_deref() == Some(VERSION) {
        return Ok(());
    }
    let version = version.unwrap_or_default();
    let version: String = version.chars().filter(char::is_ascii_digit).collect();
    Err(Failure::from(StoreError::Other(format!(
        "the tables have version {version} of the task store, and this program supports version {VERSION}; use a newer \
         program or another table"
    ))))
}

/// Creates the tables, unless another process is faster.
///
/// The lock is that of the session. A transaction that waits for it would not see that its holder has created the tables: names
/// that were absent are cached until the next transaction.
async fn create(client: &Client, names: &Names) -> Result<(), Failure> {
    let lock = format!("SELECT pg_advisory_lock({LOCK})");
    client.batch_execute(&lock).await?;
    if !exists(client, &names.format()).await? {
        if exists(client, &names.table()).await? {
            let reason = "the table belongs to another program; use another name";
            return Err(Failure::from(StoreError::Other(reason.to_owned())));
        }
        // One message is one transaction.
        client.batch_execute(&tables(names)).await?;
    }
    let unlock = format!("SELECT pg_advisory_unlock({LOCK})");
    client.batch_execute(&unlock).await?;
    Ok(())
}

async fn exists(client: &Client, table: &str) -> Result<bool, Failure> {
    let query = format!("SELECT 1 WHERE to_regclass('{table}') IS NOT NULL");
    Ok(value(client, &query).await?.is_some())
}

/// Returns the first value of a query without parameters.
pub(super) async fn value(client: &Client, query: &str) -> Result<Option<String>, Failure> {
    let messages = client.simple_query(query).await?;
    let value = messages.into_iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    Ok(value)
}

/// Statements that create the tables of version 1.
///
/// The triggers count the tasks of owners, whose number each new task needs. They change one row after that of the task, so that
/// two changes cannot wait for each other. A `MAIN` state stays in its row when the body leaves it.
fn tables(names: &Names) -> String {
    let (table, usage, format) = (names.table(), names.usage(), names.format());
    let [wake, owner] = ["_wake", "_owner"].map(|suffix| names.unqualified(suffix));
    format!(
        "
CREATE TABLE {table} (
  id text COLLATE \"C\" NOT NULL PRIMARY KEY,
  owner bytea NOT NULL,
  created_ms bigint NOT NULL,
  version bigint NOT NULL,
  wake_us bigint NOT NULL,
  state bytea NOT NULL,
  body bytea NOT NULL
);
ALTER TABLE {table} ALTER COLUMN state SET STORAGE MAIN;
CREATE INDEX {wake} ON {table} (wake_us, id);
CREATE INDEX {owner} ON {table} (sha256(owner), created_ms, id);
CREATE TABLE {usage} (
  owner_hash bytea NOT NULL,
  part smallint NOT NULL,
  tasks bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (owner_hash, part)
) WITH (fillfactor = 50);
CREATE TABLE {format} (version integer NOT NULL);
INSERT INTO {format} VALUES ({VERSION});
{}",
        triggers(names)
    )
}

fn triggers(names: &Names) -> String {
    let (table, usage, count) = (names.table(), names.usage(), names.count());
    let [inserted, replaced, removed, emptied] =
        ["_inserted", "_replaced", "_removed", "_emptied"].map(|suffix| names.unqualified(suffix));
    format!(
        "
CREATE OR REPLACE FUNCTION {count}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO {usage} AS stored (owner_hash, part, tasks, bytes)
      VALUES (sha256(NEW.owner), ascii(NEW.id) % {PARTS}, 1, octet_length(NEW.state) + octet_length(NEW.body))
      ON CONFLICT (owner_hash, part) DO UPDATE SET tasks = stored.tasks + 1, bytes = stored.bytes + excluded.bytes;
  ELSIF TG_OP = 'UPDATE' THEN
    UPDATE {usage} SET bytes = bytes + octet_length(NEW.state) + octet_length(NEW.body)
        - octet_length(OLD.state) - octet_length(OLD.body)
      WHERE owner_hash = sha256(OLD.owner) AND part = ascii(OLD.id) % {PARTS};
  ELSIF TG_OP = 'DELETE' THEN
    UPDATE {usage} SET tasks = tasks - 1, bytes = bytes - octet_length(OLD.state) - octet_length(OLD.body)
      WHERE owner_hash = sha256(OLD.owner) AND part = ascii(OLD.id) % {PARTS};
    DELETE FROM {usage}
      WHERE owner_hash = sha256(OLD.owner) AND part = ascii(OLD.id) % {PARTS} AND tasks <= 0;
  ELSE
    DELETE FROM {usage};
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER {inserted} AFTER INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {count}();
CREATE TRIGGER {replaced} AFTER UPDATE OF state, body ON {table} FOR EACH ROW
  WHEN (octet_length(NEW.state) + octet_length(NEW.body) <> octet_length(OLD.state) + octet_length(OLD.body))
  EXECUTE FUNCTION {count}();
CREATE TRIGGER {removed} AFTER DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION {count}();
CREATE TRIGGER {emptied} AFTER TRUNCATE ON {table} FOR EACH STATEMENT EXECUTE FUNCTION {count}();
"
    )
}
