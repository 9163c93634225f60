/**
 * The checkpoint thread: follows the log in short turns, so that it receives messages in between, and
 * takes a snapshot after enough commands or enough time. A command that it cannot apply, or a failed
 * audit, ends the thread; the venue then stops.
 */
import { parentPort, workerData } from "node:worker_threads";
import { ExitDeadline } from "@perpgate/journal";
import { lowerPriority } from "@perpgate/journal/worker";
import type { CheckpointThreadData, FromThread, ToThread } from "./checkpointer.js";
import { AuditFailed, Follower } from "./follower.js";

/** Orders come before snapshots. */
const NICENESS = 10;
/**
 * Work for TURN_MS, then sleep for REST_MS. Even at a low priority, a thread that works for ten
 * milliseconds without a pause occupies a core, and the order path's threads queue on the others.
 */
const TURN_MS = 0.4;
const REST_MS = 2;
/** Further behind than this it does not rest. */
const NEAR_BATCHES = 5_000;
const TIMER_MS = 1_000;

function run(data: CheckpointThreadData, post: (message: FromThread) => void): void {
  const { options } = data;
  let target = data.batch;
  let scheduled = false;
  let isOver = false;
  let takenAt = performance.now();
  let follower: Follower | undefined;

  const end = (): void => {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    follower?.close();
    parentPort?.close();
  };
  const guarded = (work: () => void): void => {
    if (isOver) return;
    try {
      work();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      // Before the message: the main thread may be blocked and never read it.
      if (data.exitDeadline !== undefined) {
        new ExitDeadline(data.exitDeadline).fail(`the second replica stopped: ${message}`);
      }
      post({ kind: "fault", message });
      end();
    }
  };
  const turn = (): void => {
    scheduled = false;
    guarded(() => {
      follower ??= new Follower(data, post);
      const progress = follower.advance(target, TURN_MS, options.everyCommands);
      const isDue = follower.commandsSince >= options.everyCommands;
      const isTime = performance.now() - takenAt >= options.everyMs && follower.commandsSince > 0;
      if (isDue || (isTime && progress === "caught up")) take(follower);
      if (progress === "behind" && !isOver)
        schedule(follower.batchesBefore(target) <= NEAR_BATCHES);
    });
  };
  const take = (replica: Follower): void => {
    const started = performance.now();
    takenAt = started;
    try {
      const { checkpoint, bytes } = replica.take(options.keep);
      post({ kind: "checkpoint", checkpoint, bytes, elapsedMs: performance.now() - started });
    } catch (error) {
      // The log does not need snapshots, so a full disk here is not fatal.
      if (error instanceof AuditFailed || !isDiskError(error)) throw error;
      post({ kind: "unwritten", message: error.message });
      replica.postpone();
    }
  };
  const schedule = (isNear = false): void => {
    if (scheduled || isOver) return;
    scheduled = true;
    if (isNear) setTimeout(turn, REST_MS);
    else setImmediate(turn);
  };
  const timer = setInterval(() => schedule(), Math.min(TIMER_MS, options.everyMs));
  parentPort?.on("message", (message: ToThread) => {
    if (message.kind === "close") {
      end();
      return;
    }
    target = message.batch;
    schedule();
  });
  schedule();
}

function isDiskError(error: unknown): error is Error {
  return error instanceof Error && "syscall" in error;
}

lowerPriority(NICENESS);
run(workerData, (message) => parentPort?.postMessage(message));
