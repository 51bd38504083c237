//! Trees as JSON.

use serde_json::json;

use super::*;

#[test]
fn what_is_not_known_is_left_out() {
    let mut timeline = timeline(vec![
        Task { key: TaskKey::Root(0), location: None, ..task(0, vec![poll(2 * S, 3 * S, 16_383)]) },
        Task { name: Some("cart".into()), ..task(7, vec![poll(2 * S, 3 * S, 1)]) },
        quiet(8, None),
        task(9, vec![Poll::open(3 * S, 4, None)]),
    ]);
    let mut pay =
        awaits("async shop::pay", 12, vec![awaits("tokio::sync::notify::Notified", 0, vec![])]);
    (pay.name, pay.call) = (Some("payment".into()), Some(0));
    timeline.places.waits = vec![Wait { frames: vec![pay] }];
    let call = CallAtEnd { entered_ns: 2 * S, fields: Some("cart=7".to_owned()) };
    timeline.places.calls_at_end = vec![(TaskKey::Spawned(7), vec![call])].into();
    timeline.long_polls.samples = vec![crate::trace::timeline::PollSample {
        thread: 4,
        poll_start_ns: 3 * S,
        at_ns: 4 * S,
        blocked_in: None,
        frames: vec![function("shop::print", 30)],
        is_complete: true,
    }];
    timeline.local_tasks = vec![LocalTask {
        id: 11,
        polled_in: TaskKey::Spawned(8),
        location: Some(SPAWNED_AT),
        name: None,
        waits_since_ns: 9 * S,
        woken_by: None,
        wait: None,
    }];
    let expected = json!([
        { "task": "main", "id": null, "location": null, "state": "waiting", "for_ns": 7 * S,
            "place": "nothing_wakes", "is_forgotten": true },
        { "task": "task-7", "id": 7, "name": "cart", "location": "src/shop.rs:7:5", "state": "waiting",
            "for_ns": 7 * S, "is_forgotten": false, "place": { "waits": [
                { "function": "async shop::pay", "file": "src/shop.rs", "line": 12, "name": "payment",
                    "for_ns": 8 * S, "fields": "cart=7",
                    "awaits": [{ "function": "tokio::sync::notify::Notified" }] },
            ] } },
        { "task": "task-8", "id": 8, "location": "src/shop.rs:7:5", "state": "waiting", "for_ns": 10 * S,
            "is_older": true, "place": "unknown", "is_forgotten": false },
        { "task": "task-11", "id": 11, "location": "src/shop.rs:7:5", "polled_in": "task-8",
            "state": "waiting", "for_ns": S, "place": "unknown", "is_forgotten": false },
        { "task": "task-9", "id": 9, "location": "src/shop.rs:7:5", "state": "running", "for_ns": 7 * S,
            "is_forgotten": false, "place": { "polled": [
                { "function": "shop::print", "file": "src/shop.rs", "line": 30 },
            ] } },
    ]);
    assert_eq!(serde_json::to_value(timeline.trees()).unwrap(), expected);
}
