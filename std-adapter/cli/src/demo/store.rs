//! The index on disk: written beside its place, synced, and renamed into it, so that nobody ever finds half an index there.
//!
//! ```text
//! "demoindx"  number of terms  { length, term, number of postings, { document, count } … } …
//! ```
//! All numbers are four bytes, the lowest first.

use super::index::Index;
use super::postings::Posting;
use perfschema::fs::Fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

static INDEX: Fs = perfschema::fs!("wait/io/file/demo/index");

const MAGIC: &[u8] = b"demoindx";
/// Written at a time.
const BUFFER_BYTES: usize = 64 << 10;

/// Writes the index, and says how many bytes that were.
pub(crate) fn write(index: &Index, path: &Path) -> io::Result<u64> {
    let unfinished = path.with_extension("tmp");
    let result = write_to(index, &unfinished).and_then(|bytes| INDEX.rename(&unfinished, path).map(|()| bytes));
    if result.is_err() {
        // What is more wrong than that, the error says.
        let _ = INDEX.remove_file(&unfinished);
    }
    result
}

/// Removes an index that nobody asked for.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    INDEX.remove_file(path)
}

fn write_to(index: &Index, path: &Path) -> io::Result<u64> {
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, INDEX.create(path)?);
    let mut bytes = MAGIC.len() as u64;
    out.write_all(MAGIC)?;
    let mut number = |out: &mut BufWriter<_>, number: usize| {
        bytes += 4;
        let number = u32::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        out.write_all(&number.to_le_bytes())
    };
    let mut texts = 0;
    number(&mut out, index.term_count())?;
    index.each_term(|term, postings| {
        number(&mut out, term.len())?;
        out.write_all(term.as_bytes())?;
        texts += term.len() as u64;
        number(&mut out, postings.len())?;
        postings.iter().try_for_each(|Posting { document, count }| {
            number(&mut out, *document as usize)?;
            number(&mut out, *count as usize)
        })
    })?;
    out.into_inner()?.sync_all()?;
    Ok(bytes + texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::index::Batch;
    use std::collections::BTreeMap;

    /// Reads what was written, in the simplest way.
    fn read(bytes: &[u8]) -> BTreeMap<String, Vec<[u32; 2]>> {
        let mut rest = bytes.strip_prefix(MAGIC).unwrap();
        let mut take = |count: usize| {
            let (taken, left) = rest.split_at(count);
            rest = left;
            taken
        };
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let mut terms = BTreeMap::new();
        for _ in 0..number(take(4)) {
            let len = number(take(4)) as usize;
            let term = String::from_utf8(take(len).to_vec()).unwrap();
            let postings = (0..number(take(4))).map(|_| [number(take(4)), number(take(4))]).collect();
            terms.insert(term, postings);
        }
        assert!(rest.is_empty());
        terms
    }

    #[test]
    fn what_was_written_is_what_was_there() {
        let dir = std::env::temp_dir().join(format!("perfschema-demo-store-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("it.index");
        let index = Index::new();
        let mut batch = Batch::default();
        batch.add(0, "to be, or nicht größer".as_bytes());
        batch.add(3, b"be be");
        index.add(&mut batch, 0);
        let bytes = write(&index, &path).unwrap();
        let written = std::fs::read(&path).unwrap();
        assert_eq!(written.len() as u64, bytes);
        let terms = read(&written);
        assert_eq!(terms.len(), 5);
        assert_eq!(terms["be"], [[0, 1], [3, 2]]);
        assert_eq!(terms["größer"], [[0, 1]]);
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1, "nothing is left beside it");
        // Where nothing can be written, nothing is left.
        assert!(write(&index, &dir.join("none/it.index")).is_err());
        std::fs::create_dir(dir.join("taken.index")).unwrap();
        assert!(write(&index, &dir.join("taken.index")).is_err());
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 2);
        remove(&path).unwrap();
        std::fs::remove_dir_all(dir).unwrap();
    }
}
