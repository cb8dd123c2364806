//! What one would use instead, each the way its documentation says.

use crate::paths::{Bench, Path};
use fastrace::local::LocalSpan;
use fastrace::prelude::{SpanContext, SpanRecord};
use hdrhistogram::Histogram as HdrHistogram;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use perfschema_timer::{Clock, SystemClock, TimerName};
use prometheus_client::metrics::histogram::{Histogram as ClientHistogram, exponential_buckets};
use std::cell::RefCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tracing::dispatcher::{self, DefaultGuard, Dispatch};
use tracing::span::{Attributes, Id};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// Spans of one root span of fastrace: a request with so many steps.
const SPANS_OF_ROOT: u32 = 100;

/// What the peers work on.
pub(crate) struct Peers {
    quanta: quanta::Clock,
    /// Who hears of the thread's spans, as long as it is here.
    subscriber: RefCell<Option<DefaultGuard>>,
    exporter: PrometheusHandle,
    facade: metrics::Histogram,
    prometheus: prometheus::Histogram,
    client: ClientHistogram,
    hdr: RefCell<HdrHistogram<u64>>,
    hotpath: <std::sync::Mutex<u64> as hotpath::InstrumentMutex>::Output,
    parking_lot: parking_lot::Mutex<u64>,
}

impl Peers {
    pub(crate) fn start() -> Peers {
        fastrace::set_reporter(NoReport, fastrace::collector::Config::default());
        let recorder = PrometheusBuilder::new().build_recorder();
        let exporter = recorder.handle();
        metrics::set_global_recorder(recorder).expect("nobody set one before");
        Peers {
            quanta: quanta::Clock::new(),
            subscriber: RefCell::new(None),
            exporter,
            facade: metrics::histogram!("bench_event_seconds"),
            prometheus: prometheus::Histogram::with_opts(prometheus::HistogramOpts::new("bench_event_seconds", "An event."))
                .expect("the name is one that Prometheus takes"),
            client: ClientHistogram::new(exponential_buckets(1e-8, 2.0, 20)),
            hdr: RefCell::new(HdrHistogram::new_with_max(1 << 40, 3).expect("the bounds are ones that it takes")),
            hotpath: hotpath::mutex!(std::sync::Mutex::new(0)),
            parking_lot: parking_lot::Mutex::new(0),
        }
    }
}

struct NoReport;

impl fastrace::collector::Reporter for NoReport {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        black_box(spans);
    }
}

/// Measures how long each span lasts: the least that a layer that is of use can do.
#[derive(Default)]
struct Durations {
    count: AtomicU64,
    sum_ns: AtomicU64,
}

impl<S: tracing::Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Durations {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Instant::now());
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(span) = context.span(&id)
            && let Some(start) = span.extensions().get::<Instant>()
        {
            self.count.fetch_add(1, Ordering::Relaxed);
            self.sum_ns.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }
}

fn subscribe(bench: &Bench, subscriber: Option<Dispatch>) {
    let mut current = bench.peers.subscriber.borrow_mut();
    // The one before goes first, or it would be what comes back.
    drop(current.take());
    *current = subscriber.as_ref().map(dispatcher::set_default);
    drop(subscriber);
    // Without it spans would still ask whether anybody listens.
    tracing::callsite::rebuild_interest_cache();
}

fn nobody(bench: &Bench) {
    subscribe(bench, None);
}

fn tracing_spans(_: &Bench, count: u32) {
    for _ in 0..count {
        let span = tracing::info_span!("event").entered();
        black_box(&span);
    }
}

fn instant_pairs(_: &Bench, count: u32) {
    for _ in 0..count {
        black_box(Instant::now().elapsed());
    }
}

fn quanta_raw_pairs(bench: &Bench, count: u32) {
    let clock = &bench.peers.quanta;
    for _ in 0..count {
        black_box(clock.raw());
        black_box(clock.raw());
    }
}

fn quanta_pairs(_: &Bench, count: u32) {
    for _ in 0..count {
        black_box(quanta::Instant::now().elapsed());
    }
}

fn fastant_pairs(_: &Bench, count: u32) {
    for _ in 0..count {
        black_box(fastant::Instant::now().elapsed());
    }
}

fn fastrace_spans(_: &Bench, count: u32) {
    for _ in 0..count / SPANS_OF_ROOT {
        let root = fastrace::Span::root("root", SpanContext::random());
        let _local = root.set_local_parent();
        for _ in 0..SPANS_OF_ROOT {
            let span = LocalSpan::enter_with_local_parent("event");
            black_box(&span);
        }
    }
}

/// The exporter keeps every sample until somebody collects it.
fn collect(bench: &Bench) {
    bench.peers.exporter.run_upkeep();
}

fn metrics_histograms(bench: &Bench, count: u32) {
    let histogram = &bench.peers.facade;
    for _ in 0..count {
        let start = Instant::now();
        histogram.record(start.elapsed());
    }
}

fn metrics_counters(_: &Bench, count: u32) {
    for _ in 0..count {
        metrics::counter!("bench_events").increment(1);
    }
}

fn prometheus_timers(bench: &Bench, count: u32) {
    let histogram = &bench.peers.prometheus;
    for _ in 0..count {
        drop(black_box(histogram.start_timer()));
    }
}

fn client_histograms(bench: &Bench, count: u32) {
    let histogram = &bench.peers.client;
    for _ in 0..count {
        let start = Instant::now();
        histogram.observe(start.elapsed().as_secs_f64());
    }
}

fn hdr_histograms(bench: &Bench, count: u32) {
    let mut histogram = bench.peers.hdr.borrow_mut();
    for _ in 0..count {
        let start = SystemClock.ticks(TimerName::Cycle);
        histogram.saturating_record(SystemClock.ticks(TimerName::Cycle).saturating_sub(start));
    }
}

fn hotpath_locks(bench: &Bench, count: u32) {
    let mutex = &bench.peers.hotpath;
    for _ in 0..count {
        if let Ok(mut guard) = black_box(mutex).lock() {
            *guard = guard.wrapping_add(1);
        }
    }
}

fn parking_lot_locks(bench: &Bench, count: u32) {
    let mutex = &bench.peers.parking_lot;
    for _ in 0..count {
        let mut guard = black_box(mutex).lock();
        *guard = guard.wrapping_add(1);
    }
}

const TIME_ONLY: &str = "anything but the time to whoever asked";
const NO_WAIT: &str = "a wait while it lasts, who waits for whom, the last events, the source line, sums by thread";

/// The peers.
pub(crate) const PEERS: &[Path] = &[
    Path::new("Instant pair", "", |_| (), instant_pairs).cannot_show(TIME_ONLY),
    Path::new("quanta", "raw pair", |_| (), quanta_raw_pairs).cannot_show(TIME_ONLY),
    Path::new("quanta", "Instant pair", |_| (), quanta_pairs).cannot_show(TIME_ONLY),
    Path::new("fastant", "Instant pair", |_| (), fastant_pairs).cannot_show(TIME_ONLY),
    Path::new("parking_lot Mutex", "", |_| (), parking_lot_locks).cannot_show("anything"),
    Path::new("hotpath Mutex", "count, two histograms", |_| (), hotpath_locks).cannot_show(
        "a wait while it lasts, its holder, the last events, who locked; memory grows with events until a thread drains it",
    ),
    Path::new("tracing span", "nobody listens", nobody, tracing_spans).cannot_show("anything"),
    Path::new("tracing span", "registry", |bench| subscribe(bench, Some(Registry::default().into())), tracing_spans)
        .cannot_show("durations, sums, the last events, anything to another thread"),
    Path::new(
        "tracing span",
        "registry, durations",
        |bench| subscribe(bench, Some(Registry::default().with(Durations::default()).into())),
        tracing_spans,
    )
    .cannot_show("a wait while it lasts, who waits for whom, the last events, sums by thread"),
    Path::new("fastrace local span", "100 in a root", |_| (), fastrace_spans)
        .cannot_show("a span before its root has ended, who waits for whom, sums; memory grows with spans"),
    Path::new("metrics to Prometheus", "histogram, Instant", collect, metrics_histograms).cannot_show(NO_WAIT),
    Path::new("metrics to Prometheus", "counter", collect, metrics_counters)
        .cannot_show("durations, and the rest that a histogram does not"),
    Path::new("prometheus", "histogram timer", |_| (), prometheus_timers).cannot_show(NO_WAIT),
    Path::new("prometheus-client", "histogram, Instant", |_| (), client_histograms).cannot_show(NO_WAIT),
    Path::new("hdrhistogram", "of one thread, timer pair", |_| (), hdr_histograms)
        .cannot_show("anything to another thread; and all that a histogram does not"),
];
