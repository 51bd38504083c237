//! A poll has the same length in all outputs: its own time, with the wall time beside it.

use super::seen::asleep;
use super::*;
use crate::analysis::picture::Picture;
use crate::render::html;
use crate::statemap::Labels;
use crate::trace::timeline::{PollCause, SamplingState};

/// The poll with the longest own time, and the time for which it held its worker.
const LONGEST: usize = 7;
const OWN_NS: u64 = 15_200 * US;
const WALL_NS: u64 = 17_000 * US;
/// The poll that held its worker longest; the machine took most of that.
const TAKEN: usize = 3;
const TAKEN_OWN_NS: u64 = 8_400 * US;
const TAKEN_WALL_NS: u64 = 23_400 * US;

const SAID: &str = "15.2 ms (wall time 17.0 ms)";

fn start_ns(n: usize) -> u64 {
    (20 + 50 * n as u64) * MS
}

/// Returns a run in which a function sleeps in 12 polls, each of which keeps another task waiting; or a run with short
/// polls only.
fn run(sleeps: bool) -> Timeline {
    let mut timeline = timeline(120);
    timeline.long_polls.sampling.state = SamplingState::On;
    let length_ns = |n| match n {
        _ if !sleeps => 10 * US,
        LONGEST => WALL_NS,
        TAKEN => TAKEN_WALL_NS,
        _ => 5 * MS,
    };
    let polls: Vec<_> = (0..12).map(|n| poll(start_ns(n), length_ns(n), 0, 0)).collect();
    let waits = (0..12).map(|n| poll(start_ns(n) + length_ns(n), US, 1, length_ns(n)));
    if sleeps {
        timeline.long_polls.samples = polls.iter().map(|poll| asleep(poll, "shop::nap")).collect();
        for (n, own_ns, wall_ns) in
            [(LONGEST, OWN_NS, WALL_NS), (TAKEN, TAKEN_OWN_NS, TAKEN_WALL_NS)]
        {
            let run_delay_ns = wall_ns - own_ns;
            let cause = PollCause { blocked_ns: own_ns, run_delay_ns, ..PollCause::default() };
            timeline.long_polls.causes.push((polls[n].key(), cause));
        }
        timeline.long_polls.causes.sort_by_key(|(key, _)| *key);
    }
    let waits = task(2, at("src/x.rs", 1, 1), waits.collect());
    *timeline.tasks = vec![task(1, at("src/jobs.rs", 7, 5), polls), waits];
    timeline
}

#[test]
fn all_outputs_have_the_same_length() {
    let timeline = run(true);
    let report = timeline.report();

    // The verdict, the list and the tables of the report.
    let verdict = report.verdict.to_string();
    assert!(
        verdict.contains(&format!("The longest took {SAID}, on worker-0 at 0.370 s")),
        "{verdict}"
    );
    let longest = &report.longest_polls[0];
    assert_eq!((longest.own_ns, longest.length_ns), (OWN_NS, WALL_NS), "{report}");
    let [culprit] = &report.blame.culprits[..] else { panic!("{report}") };
    assert_eq!(&culprit.longest, longest);
    let lengths = &culprit.lengths;
    assert_eq!((lengths.longest_ns, lengths.p99_ns, lengths.p50_ns), (OWN_NS, OWN_NS, 5 * MS));
    let row = report.locations.iter().find(|row| row.place == culprit.place).expect("it is there");
    assert_eq!((row.longest_ns, row.p99_ns), (OWN_NS, OWN_NS));
    let text = report.to_string();
    let first = "0.370 s  15.2 ms    17.0 ms  worker-0  15.2 ms  shop::nap at src/jobs.rs:31";
    let second = "0.170 s  8.40 ms    23.4 ms  worker-0  8.40 ms  shop::nap at src/jobs.rs:31";
    assert!(text.contains(&format!("{first}\n{second}\n")), "{text}");

    // The data of the page: its initial selection and first issue.
    let labels = Labels { title: "shop".to_owned(), host: None };
    let picture = Picture::of_report(&timeline, &report, &labels);
    let mut page = Vec::new();
    html::write(&picture, &mut page).expect("it is written");
    let page = String::from_utf8(page).expect("it is text");
    let (_, meta) = page.split_once("id=\"statemap-meta\">").expect("it is there");
    let meta: serde_json::Value =
        serde_json::from_str(meta.split_once("</script>").expect("it ends").0).expect("it is JSON");
    assert_eq!(meta["verdict"], *verdict);
    let sections = meta["sections"].as_array().expect("there are some");
    let why = sections.iter().map(|section| &section["why"]).find(|why| why.is_object());
    let why = why.expect("that of the tasks");
    let longest = why["culprits"][0]["longest"].as_u64().expect("a poll") as usize;
    let poll = &why["polls"][longest];
    assert_eq!((&poll[1], &poll[5]), (&start_ns(LONGEST).into(), &(WALL_NS - OWN_NS).into()));

    // The SVG, and its line for the poll.
    #[cfg(feature = "svg")]
    {
        let mut drawn = Vec::new();
        crate::render::svg::write(&picture, &mut drawn).expect("it is written");
        let drawn = String::from_utf8(drawn).expect("it is text");
        let bar = format!("longest poll of nap, src/jobs.rs:31: {SAID} on worker-0");
        assert!(drawn.contains(&bar), "{}", &drawn[..2000]);
        assert!(drawn.contains(&format!("{} {WALL_NS} {OWN_NS} 0", start_ns(LONGEST))));
    }

    // The new long polls compared to a run without them.
    #[cfg(feature = "read")]
    {
        let comparison = crate::analysis::compare::compare(&[&run(false)], &[&timeline]);
        let text = comparison.to_string().replace('\n', " ");
        assert!(text.contains("in 12 polls, up to 15.2 ms each, in tasks of"), "{text}");
        let after = comparison.lines.iter().filter_map(|line| line.after.as_ref());
        assert_eq!(after.map(|figures| figures.longest_ns).max(), Some(OWN_NS));
        let [new] = &comparison.long_polls[..] else { panic!("{text}") };
        assert_eq!((new.longest_ns, new.own_ns), (OWN_NS, culprit.own_ns));
    }
}
