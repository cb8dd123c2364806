//! Where statements end in what is typed, line by line; and what `mysql` itself does with a backslash.

/// What a line has completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A statement, without what ended it.
    Statement {
        text: String,
        /// It ended with `\G`.
        vertical: bool,
        /// The line on which it began, from 1.
        line: u64,
    },
    /// A command of the shell's own: the letter behind the backslash, and the rest of the line.
    Command(char, String),
}

/// What is not closed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// Nothing; the statement may be unfinished.
    Nothing,
    /// A text or a name in these quotes.
    Quote(char),
    /// `/*`
    Comment,
}

/// A statement without an end is taken as one when it is so long: it will be refused, and not grow without bound.
const LONGEST: usize = 2 << 20;

/// Reads lines; each character is looked at once, however long a statement gets.
#[derive(Debug)]
pub(super) struct Scanner {
    statement: String,
    open: Open,
    line: u64,
    started: u64,
}

impl Scanner {
    pub(super) fn new() -> Scanner {
        Scanner { statement: String::new(), open: Open::Nothing, line: 0, started: 1 }
    }

    /// What the next line goes on with; None at the start of a statement.
    pub(super) fn open(&self) -> Option<Open> {
        (self.open != Open::Nothing || !self.statement.trim().is_empty()).then_some(self.open)
    }

    /// What stands before the next line.
    pub(super) fn unfinished(&self) -> &str {
        &self.statement
    }

    pub(super) fn clear(&mut self) {
        self.statement.clear();
        self.open = Open::Nothing;
    }

    /// The statement that nothing has ended.
    pub(super) fn finish(&mut self) -> Option<Step> {
        self.open = Open::Nothing;
        self.take(false)
    }

    pub(super) fn feed(&mut self, line: &str) -> Vec<Step> {
        self.line += 1;
        let mut steps = Vec::new();
        if self.open().is_none() {
            self.clear();
            if let Some(command) = word_command(line) {
                return vec![command];
            }
        }
        let mut rest = line.chars();
        while let Some(c) = rest.next() {
            if self.statement.is_empty() {
                if self.open == Open::Nothing && c.is_whitespace() {
                    // Space in front is none of it.
                    continue;
                }
                self.started = self.line;
            }
            match self.open {
                Open::Quote(quote) => {
                    self.statement.push(c);
                    if c == '\\' && quote != '`' {
                        self.statement.extend(rest.next());
                    } else if c == quote {
                        // Of a doubled one, the second opens it again.
                        self.open = Open::Nothing;
                    }
                }
                Open::Comment => {
                    self.statement.push(c);
                    if c == '*' && rest.as_str().starts_with('/') {
                        self.statement.extend(rest.next());
                        self.open = Open::Nothing;
                    }
                }
                Open::Nothing => match c {
                    ';' => steps.extend(self.take(false)),
                    '\\' => match rest.next() {
                        Some('g') => steps.extend(self.take(false)),
                        Some('G') => steps.extend(self.take(true)),
                        Some('c') => self.clear(),
                        Some(letter) if letter.is_ascii_alphabetic() || letter == '?' => {
                            steps.push(Step::Command(letter, argument(rest.as_str())));
                            rest = "".chars();
                        }
                        other => {
                            self.statement.push(c);
                            self.statement.extend(other);
                        }
                    },
                    '#' => rest = "".chars(),
                    '-' if begins_comment(rest.as_str()) => rest = "".chars(),
                    _ => {
                        self.statement.push(c);
                        match c {
                            '\'' | '"' | '`' => self.open = Open::Quote(c),
                            '/' if rest.as_str().starts_with('*') => {
                                self.statement.extend(rest.next());
                                self.open = Open::Comment;
                            }
                            _ => {}
                        }
                    }
                },
            }
        }
        if !self.statement.is_empty() {
            self.statement.push('\n');
        }
        if self.statement.len() > LONGEST {
            steps.extend(self.finish());
        }
        steps
    }

    fn take(&mut self, vertical: bool) -> Option<Step> {
        let text = self.statement.trim().to_owned();
        self.statement.clear();
        (!text.is_empty()).then_some(Step::Statement { text, vertical, line: self.started })
    }
}

/// Of `--` and a space, the second `-` and what follows.
fn begins_comment(rest: &str) -> bool {
    rest.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || c.is_control()))
}

/// Up to a space, unless it is quoted.
fn argument(text: &str) -> String {
    let text = text.trim().trim_end_matches(';').trim();
    let quoted = text.strip_prefix('`').and_then(|rest| rest.split('`').next());
    quoted.or_else(|| text.split_whitespace().next()).unwrap_or_default().to_owned()
}

/// The commands that are words, alone at the start of a line. Not in front of a statement on the same line: that USE is one itself.
fn word_command(line: &str) -> Option<Step> {
    let line = line.trim().trim_end_matches(';').trim_end();
    if line.contains(';') {
        return None;
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let letter = match (word.to_ascii_lowercase().as_str(), rest.is_empty()) {
        ("help" | "?", _) => 'h',
        ("quit" | "exit", true) => 'q',
        ("status", true) => 's',
        ("clear", true) => 'c',
        ("warnings", true) => 'W',
        ("nowarning", true) => 'w',
        ("use", false) => 'u',
        _ => return None,
    };
    Some(Step::Command(letter, argument(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> (Vec<Step>, Option<Open>) {
        let mut scanner = Scanner::new();
        let steps = text.lines().flat_map(|line| scanner.feed(line)).collect();
        (steps, scanner.open())
    }

    fn statement(text: &str, vertical: bool, line: u64) -> Step {
        Step::Statement { text: text.into(), vertical, line }
    }

    #[test]
    fn statements_and_what_is_open() {
        let check = |text: &str, steps: &[Step], open: Option<Open>| assert_eq!(scan(text), (steps.to_vec(), open), "{text}");
        check("SELECT 1;", &[statement("SELECT 1", false, 1)], None);
        check("\n\nSELECT\n 1\\G", &[statement("SELECT\n 1", true, 3)], None);
        check("SELECT 1; SELECT 2\\g  ", &[statement("SELECT 1", false, 1), statement("SELECT 2", false, 1)], None);
        check("SELECT", &[], Some(Open::Nothing));
        check("SELECT ';", &[], Some(Open::Quote('\'')));
        check("SELECT \"it\\\";", &[], Some(Open::Quote('"')));
        check("SELECT `\\`;", &[statement("SELECT `\\`", false, 1)], None);
        check("SELECT 'it''s;\n\\'';", &[statement("SELECT 'it''s;\n\\''", false, 1)], None);
        check("SELECT /* ; */ 1;", &[statement("SELECT /* ; */ 1", false, 1)], None);
        check("SELECT /* ;", &[], Some(Open::Comment));
        check("SELECT 1 -- ; not\n# ;\n+ 1;", &[statement("SELECT 1 \n\n+ 1", false, 1)], None);
        check("SELECT 1--1;", &[statement("SELECT 1--1", false, 1)], None);
        check("SELECT nonsense \\c", &[], None);
        check("nonsense\nmore \\c SELECT 2;", &[statement("SELECT 2", false, 2)], None);
        check(";;", &[], None);
    }

    #[test]
    fn commands() {
        let check = |text: &str, letter: char, argument: &str| {
            assert_eq!(scan(text), (vec![Step::Command(letter, argument.into())], None), "{text}");
        };
        check("help", 'h', "");
        check("\\h", 'h', "");
        check("EXIT;", 'q', "");
        check("  \\q", 'q', "");
        check("use `sys`;", 'u', "sys");
        check("use sys -- the views", 'u', "sys");
        check("\\u sys", 'u', "sys");
        check("\\W", 'W', "");
        // Within a statement they are words.
        assert_eq!(scan("SELECT\nstatus;").0, [statement("SELECT\nstatus", false, 1)]);
        assert_eq!(scan("use").1, Some(Open::Nothing));
        let both = [statement("use sys", false, 1), statement("select database()", false, 1)];
        assert_eq!(scan("use sys; select database();").0, both);
    }

    /// What `perfschema sql` makes of the same text.
    #[test]
    fn as_the_sql_crate_cuts() {
        let texts = [
            r#"SELECT ';' AS a; SHOW TABLES\G SELECT `;`, "";""\g"#,
            "SELECT 'a\\'; b' ; SELECT 2;",
            "SELECT 1 /* ; ' */;\nSELECT 2;",
            "UPDATE t SET a = '\n;\n' WHERE b = \"`\";",
        ];
        for text in texts {
            let cut = |step| match step {
                Step::Statement { text, vertical, .. } => (text, vertical),
                Step::Command(letter, _) => panic!("{letter}"),
            };
            let here: Vec<(String, bool)> = scan(text).0.into_iter().map(cut).collect();
            let there: Vec<(String, bool)> =
                perfschema_sql::split(text).into_iter().map(|piece| (piece.text, piece.vertical)).collect();
            assert_eq!(here, there, "{text}");
        }
    }

    /// However much of it there is on one line, as in a file that was cut.
    #[test]
    fn space_in_front_of_a_statement_is_passed_over() {
        // It took minutes.
        let text = " \t".repeat(50_000) + "SELECT  1 ;" + &" ".repeat(100_000);
        assert_eq!(scan(&text), (vec![statement("SELECT  1", false, 1)], None));
    }

    #[test]
    fn a_statement_without_end_is_bounded() {
        let mut scanner = Scanner::new();
        let line = "x".repeat(1000);
        let steps = (0..5000).map(|_| scanner.feed(&line).len()).sum::<usize>();
        assert_eq!(steps, 2);
        assert!(scanner.unfinished().len() < LONGEST);
    }
}
