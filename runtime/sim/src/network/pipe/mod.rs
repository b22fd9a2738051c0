//! One direction of a connection.

mod plan;

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use tokio::io::ReadBuf;

pub(super) use self::plan::Plan;
use super::BUFFER_BYTES;
use crate::random::Random;
use crate::world::{World, lock};

/// One direction of a connection.
pub(crate) struct Pipe(Mutex<State>);

struct State {
    /// Its own, so that the connections of an ended process need no order.
    random: Random,
    chunks: VecDeque<Chunk>,
    buffered: usize,
    capacity: usize,
    /// Time at which the last byte arrives, so that bytes stay in order.
    last: u64,
    /// Nothing arrives before this time.
    held: u64,
    /// Time at which the end of the stream arrives.
    end: Option<u64>,
    /// The reader is gone.
    abandoned: bool,
    /// Times from which reading and writing fail.
    broken_reader: Option<u64>,
    broken_writer: Option<u64>,
    /// Bytes that are sent from this time on are lost.
    lost_from: Option<u64>,
    pace: Option<(u64, usize)>,
    next_read: u64,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

struct Chunk {
    at: u64,
    bytes: Vec<u8>,
    read: usize,
}

impl Pipe {
    /// Delays everything that has not arrived.
    pub(super) fn hold(&self, world: &World, until: u64) {
        let now = world.now();
        let mut state = lock(&self.0);
        state.held = state.held.max(until);
        for chunk in state.chunks.iter_mut().filter(|chunk| chunk.at > now) {
            chunk.at = chunk.at.max(until);
        }
        if let Some(end) = state.end.filter(|end| *end > now) {
            state.end = Some(end.max(until));
        }
        state.last = state.last.max(until);
        drop(state);
        world.arrives(until);
    }

    /// Lets everything arrive that [`hold`](Self::hold) still delays.
    pub(super) fn release(&self, world: &World) {
        let now = world.now();
        let mut state = lock(&self.0);
        if state.held <= now {
            return;
        }
        state.held = now;
        state.last = state.last.min(now);
        for chunk in &mut state.chunks {
            chunk.at = chunk.at.min(now);
        }
        // An end that is lost never arrives.
        let may_be_lost = state.lost_from.is_some();
        if let Some(end) = &mut state.end {
            if !may_be_lost || *end < u64::MAX {
                *end = now.min(*end);
            }
        }
        if state.abandoned {
            state.broken_writer = state.broken_writer.map(|time| time.min(now));
        }
        let wakers = [state.reader.take(), state.writer.take()];
        drop(state);
        world.arrives(now);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// Reads what has arrived. Pending with the time at which to try again.
    pub(super) fn poll_read(
        &self,
        world: &World,
        context: &Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Result<Poll<io::Result<()>>, u64> {
        let now = world.now();
        let mut state = lock(&self.0);
        if state.broken_reader.is_some_and(|time| time <= now) {
            return Ok(Poll::Ready(Err(ErrorKind::ConnectionReset.into())));
        }
        let paced_until = state.next_read;
        let pace = state.pace;
        let mut next = state.broken_reader;
        match state.chunks.front_mut() {
            Some(chunk) if chunk.at <= now && paced_until <= now => {
                let most = pace.map_or(usize::MAX, |(_, bytes)| bytes);
                let left = &chunk.bytes[chunk.read..];
                let count = left.len().min(buffer.remaining()).min(most);
                buffer.put_slice(&left[..count]);
                chunk.read += count;
                if chunk.read == chunk.bytes.len() {
                    state.chunks.pop_front();
                }
                state.buffered -= count;
                if let Some((pause, _)) = pace {
                    state.next_read = now + pause;
                    world.arrives(now + pause);
                }
                let waker = state.writer.take();
                drop(state);
                if let Some(waker) = waker {
                    waker.wake();
                }
                return Ok(Poll::Ready(Ok(())));
            }
            Some(chunk) => next = Some(earlier(next, chunk.at.max(paced_until))),
            None => match state.end {
                Some(end) if end <= now => return Ok(Poll::Ready(Ok(()))),
                Some(end) => next = Some(earlier(next, end)),
                None => {}
            },
        }
        state.reader = Some(context.waker().clone());
        next.map_or(Ok(Poll::Pending), Err)
    }

    /// Writes as much as there is space for. Pending with the time at which to try again.
    pub(super) fn poll_write(
        &self,
        world: &World,
        context: &Context<'_>,
        bytes: &[u8],
    ) -> Result<Poll<io::Result<usize>>, u64> {
        let now = world.now();
        let mut state = lock(&self.0);
        if state.broken_writer.is_some_and(|time| time <= now) || state.end.is_some() {
            return Ok(Poll::Ready(Err(ErrorKind::BrokenPipe.into())));
        }
        let space = state.capacity.saturating_sub(state.buffered);
        if space == 0 {
            state.writer = Some(context.waker().clone());
            return state.broken_writer.map_or(Ok(Poll::Pending), Err);
        }
        let count = bytes.len().min(space);
        if state.lost_from.is_some_and(|time| time <= now) {
            return Ok(Poll::Ready(Ok(count)));
        }
        let is_cut = state.random.chance(0.25);
        let cut = state.random.below(count as u64 * u64::from(is_cut));
        let cut = usize::try_from(cut).unwrap_or(0);
        for part in [&bytes[..cut], &bytes[cut..count]] {
            if !part.is_empty() {
                state.push(world, part, now);
            }
        }
        let waker = state.reader.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(Poll::Ready(Ok(count)))
    }

    /// Sends the end of the stream.
    pub(super) fn finish(&self, world: &World) {
        let mut state = lock(&self.0);
        if state.end.is_none() {
            let now = world.now();
            let is_lost = state.lost_from.is_some_and(|time| time <= now);
            state.end = Some(if is_lost {
                u64::MAX
            } else {
                state.arrival(world, now)
            });
            let waker = state.reader.take();
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Lets the writer fail, because the reader is gone.
    pub(super) fn abandon(&self, world: &World) {
        let mut state = lock(&self.0);
        let now = world.now();
        let is_lost = state.lost_from.is_some_and(|time| time <= now);
        if std::mem::replace(&mut state.abandoned, true) || is_lost {
            return;
        }
        let at = state.arrival(world, now);
        state.broken_writer = Some(earlier(state.broken_writer, at));
        let waker = state.writer.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Lets both sides fail from `at` on.
    pub(super) fn refuse(&self, at: u64) {
        let mut state = lock(&self.0);
        state.broken_reader = Some(at);
        state.broken_writer = Some(at);
    }
}

impl State {
    fn new(seed: u64, (broken_reader, broken_writer): (Option<u64>, Option<u64>)) -> Self {
        Self {
            random: Random::new(seed, 0),
            chunks: VecDeque::new(),
            buffered: 0,
            capacity: BUFFER_BYTES,
            last: 0,
            held: 0,
            end: None,
            abandoned: false,
            broken_reader,
            broken_writer,
            lost_from: None,
            pace: None,
            next_read: 0,
            reader: None,
            writer: None,
        }
    }

    fn push(&mut self, world: &World, bytes: &[u8], now: u64) {
        let at = self.arrival(world, now);
        self.buffered += bytes.len();
        self.chunks.push_back(Chunk {
            at,
            bytes: bytes.to_vec(),
            read: 0,
        });
    }

    /// Returns the time at which something that is sent now arrives.
    fn arrival(&mut self, world: &World, now: u64) -> u64 {
        let range = world.draw(|faults, _| faults.latency.clone());
        let latency = self.random.within(&range);
        self.last = self.last.max(now + latency).max(self.held);
        world.arrives(self.last);
        self.last
    }
}

fn earlier(time: Option<u64>, other: u64) -> u64 {
    time.map_or(other, |time| time.min(other))
}
