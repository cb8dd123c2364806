//! What each table is to show of what the model knows.

use super::*;

impl Naive {
    /// What the table counted since it was truncated.
    fn counted(&self, table: &str) -> &[Counted] {
        &self.counted[self.since.get(table).copied().unwrap_or(0)..]
    }

    /// COUNT, SUM, MIN, AVG, MAX.
    fn sums(&self, table: &str, of: impl Fn(&Counted) -> bool) -> String {
        let operations = table.starts_with("socket_");
        let in_table = |counted: &&Counted| (counted.is_wait || operations) && of(counted);
        let chosen: Vec<&Counted> = self.counted(table).iter().filter(in_table).collect();
        let timed: Vec<u64> = chosen.iter().filter_map(|counted| counted.wait_ps).collect();
        let sum: u64 = timed.iter().sum();
        let avg = sum.checked_div(timed.len() as u64).unwrap_or(0);
        format!("{} {sum} {} {avg} {}", chosen.len(), timed.iter().min().unwrap_or(&0), timed.iter().max().unwrap_or(&0))
    }

    /// The same, and of statements their figures, of transactions those that may write and those that only read.
    fn event_sums(&self, table: &str, of: impl Fn(&Counted) -> bool + Copy) -> String {
        let sums = self.sums(table, of);
        match kind_of_table(table) {
            STATEMENTS => format!("{sums} {}", self.figures(table, of)),
            TRANSACTIONS => {
                let [read_write, read_only] =
                    [false, true].map(|read_only| self.sums(table, |counted| of(counted) && counted.read_only == read_only));
                format!("{sums} {read_write} {read_only}")
            }
            _ => sums,
        }
    }

    /// The same of all operations and of each group; of reads and writes the bytes, too.
    fn io_sums(&self, table: &str, of: impl Fn(&Counted, &Io) -> bool) -> String {
        let of_group = |counted: &Counted, group: Option<usize>| {
            counted.io.is_some_and(|io| of(counted, &io) && group.is_none_or(|group| io.group == group))
        };
        let [all, read, write, misc] =
            [None, Some(0), Some(1), Some(2)].map(|group| self.sums(table, |counted| of_group(counted, group)));
        let bytes = |group: usize| -> u64 {
            self.counted(table).iter().filter(|counted| of_group(counted, Some(group))).map(|counted| counted.bytes).sum()
        };
        format!("{all} {read} {} {write} {} {misc}", bytes(0), bytes(1))
    }

    /// The last bucket that does not begin after the wait.
    pub(super) fn bucket(&self, wait_ps: u64) -> usize {
        self.bucket_lows.iter().rposition(|low| *low <= wait_ps).unwrap()
    }

    fn bucket_high(&self, bucket: usize) -> u64 {
        self.bucket_lows.get(bucket + 1).copied().unwrap_or(u64::MAX)
    }

    fn buckets(&self, class: ClassKey) -> Vec<u64> {
        let mut buckets = vec![0; self.bucket_lows.len()];
        for counted in self.counted("events_waits_histogram_by_event_name").iter().filter(|counted| counted.class == class) {
            counted.bucket.into_iter().for_each(|bucket| buckets[bucket] += 1);
        }
        buckets
    }

    pub(crate) fn histogram_rows(&self) -> Vec<HistogramRow> {
        let mut rows = Vec::new();
        for (key, class) in self.wait_classes() {
            let buckets = self.buckets(key);
            let total = buckets.iter().sum::<u64>().max(1);
            let mut lower = 0;
            for (number, count) in buckets.into_iter().enumerate() {
                lower += count;
                let (low, high) = (self.bucket_lows[number], self.bucket_high(number));
                rows.push((class.name, number as u32, low, high, count, lower, lower as f64 / total as f64));
            }
        }
        rows
    }

    /// The end of the bucket of the wait that so many of 1000 do not exceed: all waits in order, and the one at that rank.
    fn quantile(&self, buckets: &[u64], per_mille: u64) -> u64 {
        let waits: Vec<usize> =
            buckets.iter().enumerate().flat_map(|(bucket, count)| iter::repeat_n(bucket, *count as usize)).collect();
        let rank = (waits.len() * per_mille as usize).div_ceil(1000).max(1);
        waits.get(rank - 1).map_or(0, |bucket| self.bucket_high(*bucket))
    }

    fn event_row(&self, thread: u64, event: &Event) -> String {
        let timed = |value: Option<u64>| number(value.filter(|_| event.on.timed));
        let begun = &event.begun;
        let times = [Some(event.start), event.wait_ps().map(|wait| event.start + wait), event.wait_ps()].map(timed).join(" ");
        let which = format!("{thread} {} {} {}", event.id, number(event.end_id), self.class(event.class).name);
        let when = format!("{} {times}", begun.source.map_or("NULL".into(), |line| format!("model.rs:{line}")));
        let nesting = event.nesting.map_or("NULL NULL".into(), |(id, kind)| format!("{id} {kind}"));
        if event.kind() == TRANSACTIONS {
            return transaction_row(event, &which, &when, &nesting);
        }
        let what = format!("{which} {when}");
        if event.kind() == STAGES {
            let [completed, estimated] = [0, 1].map(|at| number(event.progress.map(|progress| progress[at])));
            return format!("{what} {completed} {estimated} {nesting}");
        }
        if event.kind() == STATEMENTS {
            return format!("{what} {} {nesting} {}", self.statement_columns(event), event.statements.len());
        }
        let has_bytes = [FILES, SOCKETS].contains(&event.class.0) || is_ordinary(self.class(event.class).name);
        let name = begun.file.and_then(|(file, _)| self.event_file_name(file?)).or_else(|| begun.peer.clone());
        format!(
            "{what} {} NULL {} NULL {} {} {nesting} {} {} {}",
            number(Some(begun.amount.min(u32::MAX.into())).filter(|amount| *amount != 0 && !has_bytes)),
            name.unwrap_or("NULL".into()),
            match event.class.0 {
                FILES => "FILE",
                SOCKETS => "SOCKET",
                _ => "NULL",
            },
            begun.object,
            begun.operation,
            number(begun.amount.checked_sub(1).filter(|_| has_bytes)),
            number(begun.file.map(|(_, flags)| flags.into())),
        )
    }

    /// The columns that only statements have, before those of nesting.
    fn statement_columns(&self, event: &Event) -> String {
        let text = text_or_null;
        let kept = text(event.begun.text, self.text_room());
        let digest = match kept.as_str() {
            kept if kept != "NULL" && event.on.digest => format!("{} {}", Digest::of(kept).text(), digest_text(kept)),
            _ => "NULL NULL".into(),
        };
        let texts = [kept, digest, text(event.begun.schema, 64), "NULL NULL NULL NULL".into()];
        let errno = number(event.end.map(|_| u64::from(event.error.number).min(i32::MAX as u64)));
        let error = [errno, text(event.error.sqlstate, 5), text(event.error.message, 128)];
        let (lock_time, others) = event.figures.split_first().unwrap();
        let others: Vec<String> = others.iter().map(u64::to_string).collect();
        format!("{lock_time} {} {} {}", texts.join(" "), error.join(" "), others.join(" "))
    }

    /// The sums of all figures of statements.
    fn figures(&self, table: &str, of: impl Fn(&Counted) -> bool) -> String {
        let mut sums = [0_u64; FIGURES];
        for counted in self.counted(table).iter().filter(|counted| of(counted)) {
            iter::zip(&mut sums, counted.figures).for_each(|(sum, figure)| *sum = sum.wrapping_add(figure));
        }
        sums.map(|sum| sum.to_string()).join(" ")
    }

    /// PROCESSLIST_DB, _COMMAND, _TIME, _STATE and _INFO of a thread.
    fn doing(&self, thread: &Thread, now: u64) -> [String; 5] {
        let first = |kind: usize| thread.events[kind].open.iter().filter(|event| event.shown).min_by_key(|event| event.id);
        let (statement, stage) = (first(STATEMENTS), first(STAGES));
        let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).unwrap_or("NULL").to_owned();
        let command = if statement.is_some() { "Query" } else { "Sleep" };
        let since = match statement.or(stage) {
            Some(event) => Some((event.on.timed, event.start)),
            None => thread.events[STATEMENTS].last_ended.as_ref().map(|event| (event.on.timed, event.end.unwrap())),
        };
        let seconds = since.filter(|(timed, _)| *timed).map(|(_, begin)| now.saturating_sub(begin) / 1_000_000_000_000);
        [
            text(statement.map(|statement| kept_text(statement.begun.schema, 64))),
            text(Some(command).filter(|_| !thread.who.background)),
            number(seconds),
            text(stage.map(|stage| self.class(stage.class).name.splitn(3, '/').last().unwrap())),
            text(statement.map(|statement| kept_text(statement.begun.text, self.text_room()))),
        ]
    }

    /// What runs in the thread, or else what ended last.
    fn current(&self, thread: &Thread, kind: usize) -> Vec<Event> {
        let own = &thread.events[kind];
        let running: Vec<&Event> = own.open.iter().filter(|event| event.shown).collect();
        let events = if running.is_empty() { own.last_ended.iter().collect() } else { running };
        let shown = events.into_iter().filter(|event| !event.hidden_current);
        shown.map(|event| Event { nesting: nesting(thread, event), ..event.clone() }).collect()
    }

    fn history(&self, thread: &Thread, kind: usize) -> Vec<Event> {
        let mut shown: Vec<Event> = thread.events[kind].kept.iter().filter(|event| !event.hidden_history).cloned().collect();
        shown.sort_by_key(|event| std::cmp::Reverse(event.end_order()));
        shown.truncate(self.size(EVENTS[kind].history_size));
        shown
    }

    /// The rows that a table should show, in any order; None for the histogram, whose rows are [`histogram_rows`](Self::histogram_rows).
    /// It is read at `now`, in picoseconds since the epoch.
    pub(crate) fn rows(&self, table: &str, now: u64) -> Option<Vec<String>> {
        let yes = |yes: bool| if yes { "YES" } else { "NO" };
        let not_zero = |value: u64| number(Some(value).filter(|value| *value != 0));
        let kind = kind_of_table(table);
        let event_rows = |events: fn(&Naive, &Thread, usize) -> Vec<Event>| -> Vec<String> {
            let of_thread = |thread: &Thread| {
                events(self, thread, kind).iter().map(|event| self.event_row(thread.id, event)).collect::<Vec<_>>()
            };
            self.live().flat_map(of_thread).collect()
        };
        Some(match table {
            "setup_instruments" => self
                .class_list()
                .map(|(key, class)| {
                    format!(
                        "{} {} {} {}",
                        class.name,
                        yes(class.setting.enabled),
                        if key.0 == MEMORY { "NULL" } else { yes(class.setting.timed) },
                        class.setting.timed_one_in
                    )
                })
                .collect(),
            "setup_consumers" => iter::zip(Consumer::ALL, &self.consumers)
                .map(|(consumer, on)| format!("{} {}", consumer.name(), yes(*on)))
                .collect(),
            "setup_timers" => iter::zip(["wait", "idle", "stage", "statement", "transaction"], self.timers)
                .map(|(class, timer)| format!("{class} {}", TimerName::ALL[timer].name()))
                .collect(),
            "setup_actors" => self
                .setup_actors
                .iter()
                .map(|row| format!("{} {} % {} {}", row.host, row.user, yes(row.enabled), yes(row.history)))
                .collect(),
            "threads" => self
                .live()
                .map(|thread| {
                    let Who { name, user, host, background, os_id, parent } = &thread.who;
                    let kind = if *background { "BACKGROUND" } else { "FOREGROUND" };
                    format!(
                        "{} {name} {kind} {} {user} {host} {} {} NULL {} {} NULL {}",
                        thread.id,
                        number(Some(thread.id).filter(|_| !background)),
                        self.doing(thread, now).join(" "),
                        not_zero(*parent),
                        yes(thread.instrumented),
                        yes(thread.history),
                        not_zero(*os_id),
                    )
                })
                .collect(),
            "processlist" => self
                .live()
                .filter(|thread| !thread.who.background)
                .map(|thread| {
                    let [db, command, time, state, info] = self.doing(thread, now);
                    let (Who { user, host, .. }, state) = (&thread.who, if state == "NULL" { "" } else { &state });
                    format!("{} {user} {host} {db} {command} {time} {state} {info} PRIMARY", thread.id)
                })
                .collect(),
            "mutex_instances" => self
                .live_instances(0)
                .map(|i| format!("{} {} {}", self.class(i.class).name, i.address, not_zero(i.holder)))
                .collect(),
            "rwlock_instances" => self
                .live_instances(1)
                .map(|i| format!("{} {} {} {}", self.class(i.class).name, i.address, not_zero(i.holder), i.readers))
                .collect(),
            "cond_instances" => self.live_instances(2).map(|i| format!("{} {}", self.class(i.class).name, i.address)).collect(),
            "file_instances" => self
                .file_rows()
                .map(|(_, file)| format!("{} {} {}", shown_path(&file.path), self.class(file.class).name, file.open_count))
                .collect(),
            "file_summary_by_instance" => self
                .file_rows()
                .map(|(key, file)| {
                    let sums = self.io_sums(table, |counted, io| counted.io.is_some() && io.file == Some(key));
                    format!("{} {} - {sums}", shown_path(&file.path), self.class(file.class).name)
                })
                .collect(),
            "file_summary_by_event_name" => self
                .class_list()
                .filter(|((pool, _), _)| *pool == FILES)
                .map(|(key, class)| {
                    let sums = self.io_sums(table, |counted, _| counted.class == key);
                    format!("{} {sums}", class.name)
                })
                .collect(),
            "socket_instances" => self
                .open_sockets()
                .map(|(_, socket)| {
                    let thread = if socket.thread == 0 { socket.first } else { socket.thread };
                    let ((ip, port), state) = (&socket.peer, if socket.idle == 0 { "ACTIVE" } else { "IDLE" });
                    let class = self.class(socket.class).name;
                    format!("{class} - {} {} {ip} {port} {state}", not_zero(thread), socket.descriptor)
                })
                .collect(),
            "socket_summary_by_instance" => self
                .open_sockets()
                .map(|(key, socket)| {
                    let sums = self.io_sums(table, |_, io| io.socket == Some(key));
                    format!("{} - {sums}", self.class(socket.class).name)
                })
                .collect(),
            "socket_summary_by_event_name" => self
                .class_list()
                .filter(|((pool, _), _)| *pool == SOCKETS)
                .map(|(key, class)| format!("{} {}", class.name, self.io_sums(table, |counted, _| counted.class == key)))
                .collect(),
            "events_waits_current" | "events_stages_current" | "events_statements_current" | "events_transactions_current" => {
                event_rows(Naive::current)
            }
            "events_waits_history" | "events_stages_history" | "events_statements_history" | "events_transactions_history" => {
                event_rows(Naive::history)
            }
            "events_waits_history_long"
            | "events_stages_history_long"
            | "events_statements_history_long"
            | "events_transactions_history_long" => {
                let shown = self.long[kind].rows.iter().flatten().filter(|(_, _, event)| !event.hidden_history);
                shown.map(|(_, thread, event)| self.event_row(*thread, event)).collect()
            }
            "events_stages_summary_global_by_event_name"
            | "events_statements_summary_global_by_event_name"
            | "events_transactions_summary_global_by_event_name" => self
                .classes_of_table(table)
                .map(|(key, class)| format!("{} {}", class.name, self.event_sums(table, |counted| counted.class == key)))
                .collect(),
            "events_stages_summary_by_thread_by_event_name"
            | "events_statements_summary_by_thread_by_event_name"
            | "events_transactions_summary_by_thread_by_event_name" => self
                .live()
                .flat_map(|thread| self.classes_of_table(table).map(move |(key, class)| (thread.id, key, class)))
                .map(|(thread, key, class)| {
                    let sums = self.event_sums(table, |counted| counted.class == key && counted.thread == Some(thread));
                    format!("{thread} {} {sums}", class.name)
                })
                .collect(),
            "events_statements_summary_by_digest" => (0..=self.digests.len())
                .filter_map(|place| {
                    let of_place = |counted: &Counted| counted.digest.is_some_and(|(digest, _)| digest == place);
                    let moments_us: Vec<u64> =
                        self.counted(table).iter().filter(|c| of_place(c)).filter_map(|c| Some(c.digest?.1)).collect();
                    let seen = |us: u64| {
                        let (second, us) = (us / 1_000_000, us % 1_000_000);
                        format!("1970-01-01 {:02}:{:02}:{:02}.{us:06}", second / 3600, second / 60 % 60, second % 60)
                    };
                    let seen = [seen(*moments_us.first()?), seen(*moments_us.iter().max()?)].join(" ");
                    let name = match place.checked_sub(1).map(|at| &self.digests[at]) {
                        Some(KnownDigest { schema, text, .. }) => {
                            let schema = if schema.is_empty() { "NULL" } else { schema };
                            format!("{schema} {} {text}", Digest::of(text).text())
                        }
                        None => "NULL NULL NULL".into(),
                    };
                    Some(format!("{name} {} {seen}", self.event_sums(table, of_place)))
                })
                .collect(),
            "memory_summary_global_by_event_name" => self
                .class_list()
                .filter(|((pool, _), _)| *pool == MEMORY)
                .map(|(key, class)| {
                    // A slot counts over all its owners; what has no slot is one place more.
                    let memory = self.memory_row(table, key, |slot, _| Some(slot.map_or(0, |slot| slot + 1)));
                    format!("{} {memory}", class.name)
                })
                .collect(),
            "memory_summary_by_thread_by_event_name" => self
                .live()
                .flat_map(|thread| self.class_list().map(move |(key, class)| (thread.id, key, class)))
                .filter(|(_, (pool, _), _)| *pool == MEMORY)
                .map(|(id, key, class)| {
                    let memory = self.memory_row(table, key, |slot, thread| slot.filter(|_| thread == id));
                    format!("{id} {} {memory}", class.name)
                })
                .collect(),
            "events_waits_summary_global_by_event_name" => self
                .wait_classes()
                .map(|(key, class)| {
                    let sums = self.sums(table, |counted| counted.class == key);
                    let buckets = self.buckets(key);
                    let [q95, q99, q999] = [950, 990, 999].map(|share| self.quantile(&buckets, share));
                    format!("{} {sums} {q95} {q99} {q999}", class.name)
                })
                .collect(),
            "events_waits_summary_by_thread_by_event_name" => self
                .live()
                .flat_map(|thread| self.wait_classes().map(move |(key, class)| (thread.id, key, class)))
                .map(|(thread, key, class)| {
                    let sums = self.sums(table, |counted| counted.class == key && counted.thread == Some(thread));
                    format!("{thread} {} {sums}", class.name)
                })
                .collect(),
            "events_waits_summary_by_instance" => (0..4)
                .flat_map(|pool| self.live_instances(pool).map(move |instance| (pool, instance)))
                .map(|(pool, instance)| {
                    let sums = self.sums(table, |counted| counted.instance == Some((pool, instance.unique)));
                    format!("{} {} {sums}", self.class(instance.class).name, instance.address)
                })
                .chain(self.file_rows().map(|(key, file)| {
                    let of_file = |counted: &Counted| counted.io_waits && counted.io.is_some_and(|io| io.file == Some(key));
                    format!("{} - {}", self.class(file.class).name, self.sums(table, of_file))
                }))
                .chain(self.open_sockets().map(|(key, socket)| {
                    let of_socket = |counted: &Counted| counted.io_waits && counted.io.is_some_and(|io| io.socket == Some(key));
                    format!("{} - {}", self.class(socket.class).name, self.sums(table, of_socket))
                }))
                .collect(),
            "global_status" => {
                Lost::ALL.iter().map(|lost| format!("{} {}", lost.variable(), self.lost.get(lost).unwrap_or(&0))).collect()
            }
            "global_variables" => Size::ALL
                .iter()
                .map(|size| format!("{} {}", size.variable(), self.config.get(*size)))
                .chain(["performance_schema ON".into()])
                .chain(MonitorCommand::ALL.map(|command| format!("{} NULL", command.variable())))
                .collect(),
            "performance_timers" => iter::zip([2_500_000_000_u64, 1_000_000_000, 1_000_000, 1_000, 100], TimerName::ALL)
                .map(|(hz, timer)| format!("{} {hz} NULL NULL", timer.name()))
                .collect(),
            "events_waits_histogram_by_event_name" => return None,
            // `metrics.rs` has a model of its own.
            "innodb_metrics" => return None,
            other => panic!("the model does not know {other}"),
        })
    }

    /// How many places a whole read of the table looks at; None where there is no place without a row.
    pub(crate) fn places(&self, table: &str) -> Option<u64> {
        let instances = |pool: usize| self.instances[pool].len();
        let threads = self.slots.len();
        let places = match table {
            "setup_instruments" => {
                // Transactions have a second place, which is no instrument's.
                let instruments: usize = CLASSES.iter().map(|size| size.map_or(1, |(size, _)| self.size(size))).sum();
                instruments + self.size(Size::MaxTransactionClasses)
            }
            "setup_actors" => self.size(Size::SetupActorsSize),
            "processlist" | "threads" => threads,
            "mutex_instances" => instances(0),
            "rwlock_instances" => instances(1),
            "cond_instances" => instances(2),
            "events_waits_summary_by_instance" => {
                (0..4).map(instances).sum::<usize>() + self.file_places.len() + self.size(Size::MaxSocketInstances)
            }
            "file_instances" | "file_summary_by_instance" => self.file_places.len(),
            "file_summary_by_event_name" => self.size(Size::MaxFileClasses),
            "memory_summary_global_by_event_name" => self.size(Size::MaxMemoryClasses),
            "memory_summary_by_thread_by_event_name" => threads * self.size(Size::MaxMemoryClasses),
            "socket_instances" | "socket_summary_by_instance" => self.size(Size::MaxSocketInstances),
            "socket_summary_by_event_name" => self.size(Size::MaxSocketClasses),
            "events_statements_summary_by_digest" => self.size(Size::DigestsSize),
            _ if table.ends_with("_current") || table.ends_with("_history") => threads * self.records(kind_of_table(table)),
            _ if table.ends_with("_history_long") => self.long[kind_of_table(table)].rows.len(),
            _ => return None,
        };
        Some(places as u64)
    }
}

/// What is kept of a text.
fn text_or_null(text: &str, bytes: usize) -> String {
    match kept_text(text, bytes) {
        "" => "NULL".into(),
        kept => kept.into(),
    }
}

/// GTID shows when it has ended.
fn transaction_row(event: &Event, which: &str, when: &str, nesting: &str) -> String {
    let Begun { read_only, autocommit, isolation_level, .. } = event.begun;
    let [trx_id, savepoints @ ..] = event.written;
    let trx_id = number(Some(trx_id).filter(|trx_id| *trx_id != 0));
    let gtid = text_or_null(if event.end.is_some() { event.gtid } else { "" }, 64);
    let access_mode = if read_only { "READ ONLY" } else { "READ WRITE" };
    let isolation_level = text_or_null(isolation_level, 64);
    let autocommit = if autocommit { "YES" } else { "NO" };
    let savepoints = savepoints.map(|number| number.to_string()).join(" ");
    format!(
        "{which} {} {trx_id} {gtid} NULL NULL NULL NULL {when} {access_mode} {isolation_level} {autocommit} {savepoints} NULL {nesting}",
        event.state
    )
}
