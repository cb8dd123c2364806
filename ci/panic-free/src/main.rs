//! Can a program panic where it records? This one holds what an instrumentation point calls, and nothing else. Its panic handler calls a
//! function that does not exist. The linker leaves out what nothing reaches; so it links if nothing in there can panic, and only then.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod program {
    use core::hint::black_box;
    use perfschema_core::metric::Metric;
    use perfschema_core::timer::SystemClock;
    use perfschema_core::{
        Actor, ActorIdentity, Class, FileEvent, FileId, Held, MemoryChange, Region, StatementError, StatementStart, Switches,
        TransactionStart, TransactionState, Wait, WaitStart,
    };

    fn attach<'r>(region: &'r Region<'r>, identity: &ActorIdentity<'_>) -> Actor<'r> {
        Actor::attach(region, identity)
    }

    fn begin<'r>(actor: &Actor<'r>, switches: Switches, class: Class, what: &WaitStart) -> Wait<'r> {
        #[cfg(feature = "planted")]
        assert!(class.index() < 1000);
        actor.begin(&SystemClock, switches, class, what)
    }

    fn chain<'r>(
        actor: &Actor<'r>,
        ended: Wait<'_>,
        held: Held<'_, '_>,
        switches: Switches,
        class: Class,
        what: &WaitStart,
    ) -> Wait<'r> {
        actor.chain(&SystemClock, ended, held, switches, class, what)
    }

    fn end(actor: &Actor<'_>, wait: Wait<'_>, held: Held<'_, '_>) -> Option<u64> {
        actor.end(&SystemClock, wait, held)
    }

    fn detach(actor: &Actor<'_>) {
        actor.detach();
    }

    fn open(region: &Region<'_>, class: Class, path: &[u8]) -> (Option<FileId>, FileEvent) {
        let id = region.refer_to_file(class, path);
        id.into_iter().for_each(|id| region.file_opened(id));
        (id, FileEvent::new(id.and_then(|id| region.file(id)).as_ref(), 0))
    }

    fn close(region: &Region<'_>, id: FileId) {
        region.refer_again(id);
        region.file_closed(id);
        region.release_file(id);
    }

    fn delete_and_rename(region: &Region<'_>, path: &[u8], to: &[u8]) {
        region.file_deleted(path);
        region.file_renamed(path, to);
    }

    fn memory(actor: &Actor<'_>, switches: Switches, class: Class, change: MemoryChange) {
        actor.count_memory(switches, class, change);
    }

    fn stages(actor: &Actor<'_>, switches: Switches) -> bool {
        let stage = actor.begin_stage(&SystemClock, switches, None);
        actor.change_stage_progress(|progress| progress.completed = progress.estimated);
        stage.is_some_and(|stage| actor.end_stage(&SystemClock, stage)) || actor.end_any_stage(&SystemClock)
    }

    fn statements(actor: &Actor<'_>, switches: Switches, start: &StatementStart<'_>, error: StatementError) -> Option<u64> {
        let mut statement = actor.begin_statement(&SystemClock, switches, start);
        actor.change_statement(&mut statement, |statistics| statistics.errors = statistics.rows_sent);
        actor.set_statement_error(&mut statement, &error);
        actor.end_statement(&SystemClock, statement)
    }

    fn transactions(
        actor: &Actor<'_>,
        switches: Switches,
        start: &TransactionStart<'_>,
        gtid: &str,
        state: TransactionState,
    ) -> Option<u64> {
        let mut transaction = actor.begin_transaction(&SystemClock, switches, start);
        actor.change_transaction(&mut transaction, |details| details.savepoints = details.trx_id);
        actor.set_transaction_gtid(&mut transaction, gtid);
        actor.end_transaction(&SystemClock, transaction, state)
    }

    fn metrics(actor: &Actor<'_>, metric: Metric, count: u64) {
        let region = actor.region();
        if region.metric_is_on(metric) {
            actor.count_metric(metric, count);
        }
        region.change_metric_value(metric, -1);
        region.set_metric_value(metric, 1);
        region.set_metric_total(metric, count);
    }

    fn identify(actor: &Actor<'_>, identity: &ActorIdentity<'_>) -> bool {
        actor.identify(identity)
    }

    // SAFETY: the linker's name for where a program starts; no other function has it.
    #[unsafe(no_mangle)]
    extern "C" fn _start() -> ! {
        loop {
            black_box([attach as *const (), begin as *const (), chain as *const (), end as *const (), detach as *const ()]);
            black_box([open as *const (), close as *const (), delete_and_rename as *const ()]);
            black_box([
                memory as *const (),
                stages as *const (),
                statements as *const (),
                transactions as *const (),
                metrics as *const (),
                identify as *const (),
            ]);
        }
    }

    // SAFETY: there is no such function, so it is never called: a program that would call it does not link.
    unsafe extern "C" {
        safe fn recording_can_panic() -> !;
    }

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        recording_can_panic()
    }

    #[cfg(not(target_has_atomic = "64"))]
    mod critical_section {
        struct Nothing;
        critical_section::set_impl!(Nothing);

        // SAFETY: the program never runs.
        unsafe impl critical_section::Impl for Nothing {
            unsafe fn acquire() {}
            unsafe fn release((): ()) {}
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() {}
