//! Pairs of tasks that send each other messages.

use tokio::sync::mpsc;

use crate::variants::Spawner;

const PAIRS: u64 = 8;

/// Sends `messages` messages in all.
pub(super) async fn play(spawner: &Spawner, messages: u64) {
    let rounds = messages / PAIRS / 2;
    let mut players = Vec::new();
    for _ in 0..PAIRS {
        let (ping, mut pinged) = mpsc::channel(1);
        let (pong, mut ponged) = mpsc::channel(1);
        players.push(spawner.spawn(async move {
            for ball in 0..rounds {
                ping.send(ball).await.expect("the other one plays");
                ponged.recv().await.expect("the other one plays");
            }
        }));
        players.push(spawner.spawn(async move {
            while let Some(ball) = pinged.recv().await {
                pong.send(ball).await.expect("the other one plays");
            }
        }));
    }
    for player in players {
        player.await.expect("it only plays");
    }
}
