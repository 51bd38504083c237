//! The stacks contain all of the own time of the polls.

use super::*;
use crate::analysis::picture::why_tests::explained;
use crate::statemap::Labels;
use crate::trace::timeline::Timeline;

fn folded(timelines: &[&Timeline]) -> Vec<(Vec<String>, u64)> {
    let labels = Labels { title: "shop".to_owned(), host: None };
    let runs: Vec<_> = timelines.iter().map(|timeline| Run::new(timeline, &labels, None)).collect();
    let mut written = Vec::new();
    write(&runs.iter().collect::<Vec<_>>(), &mut written).unwrap();
    let text = String::from_utf8(written).unwrap();
    let lines = text.lines().map(|line| {
        let (stack, weight) = line.rsplit_once(' ').expect("a weight");
        (stack.split(';').map(str::to_owned).collect(), weight.parse().expect("a number"))
    });
    lines.collect()
}

#[test]
fn the_weights_are_the_polls_own_time() {
    let (timeline, longest) = explained("<[u8; 4] as shop::Sign>::sign");
    let lines = folded(&[&timeline]);
    let polls = timeline.tasks.seen().iter().flat_map(|task| &task.polls);
    let mut expected = 0;
    let mut own_of_longest = 0;
    for poll in polls {
        let held_ns = match poll.worker() {
            Some(_) => timeline.held_ns(poll),
            None => poll.length_ns(timeline.end_ns),
        };
        let own_ns = held_ns - timeline.cause(poll).map_or(0, |cause| cause.taken_ns());
        expected += own_ns;
        if poll.key() == longest {
            own_of_longest = own_ns;
        }
    }
    assert_eq!(lines.iter().map(|(_, ns)| ns).sum::<u64>(), expected);
    let sampled: Vec<_> = lines.iter().filter(|(stack, _)| stack.len() > 2).collect();
    assert_eq!(sampled.iter().map(|(_, ns)| ns).sum::<u64>(), own_of_longest);
    for (stack, _) in sampled {
        let functions = stack.iter().rev().map(String::as_str).take(3).collect::<Vec<_>>();
        let sign = "<[u8, 4] as shop::Sign>::sign";
        assert_eq!(functions, ["core::hint::spin", sign, "async shop::handle"]);
    }
    let others = lines.iter().filter(|(stack, _)| stack.len() == 2);
    assert!(others.clone().count() > 0 && others.clone().all(|(stack, _)| stack[1] == "poll"));
}

#[test]
fn runs_are_distinguished() {
    let (mut timeline, _) = explained("shop::compute");
    let other = timeline.clone();
    timeline.runtime = Some("a;p\ni".to_owned());
    let lines = folded(&[&timeline, &other]);
    let of = |title: &str| -> u64 {
        lines.iter().filter(|(stack, _)| stack[0] == title).map(|(_, ns)| ns).sum()
    };
    assert!(of("shop") > 0);
    assert_eq!(of("shop"), of("shop a,p\\ni"));
}
