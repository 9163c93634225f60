/**
 * Accepts, on the operator's request, that a log has lost its end. Before anything else changes,
 * everything that shows the loss is put into a new folder, which the venue never removes:
 *
 *   given-up-2026-11-15T22-26-21.123Z/
 *     loss.json           the log's end, and the proofs past it
 *     checkpoints.jsonl   a copy of all of them
 *     log-checkpoint      a copy: the last that was signed; it may cover lost blocks
 *     journal/            copies of the log's last segments; the snapshots past its end, moved
 *     history/            the history, moved; the next one is rebuilt from the log
 *
 * The history is moved last: after a crash before that the next start is refused again, and the next
 * attempt makes another folder.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { FileSnapshots, type Loss, nodeDisk } from "@perpgate/journal";
import { readCheckpointLines } from "../checkpoint/checkpoint-file.js";
import { freePath, timeName } from "../history/set-aside.js";
import { type DataFolder, sync } from "./data-folder.js";

const GIVEN_UP = "given-up-";

/** Returns the new folder. The history must be closed. */
export function giveUp(folder: DataFolder, loss: Loss, nowMs: number): string {
  const { logId, end, proofs, tailFiles } = loss;
  const data = dirname(folder.checkpoints);
  const target = freePath(join(data, `${GIVEN_UP}${timeName(nowMs)}`));
  const journal = join(target, "journal");
  mkdirSync(journal, { recursive: true, mode: 0o700 });
  write(join(target, "loss.json"), `${JSON.stringify({ end, proofs }, null, 2)}\n`);
  for (const file of tailFiles) copy(file, join(journal, basename(file)));
  for (const file of [folder.checkpoints, folder.logCheckpoint]) {
    if (existsSync(file)) copy(file, join(target, basename(file)));
  }
  for (const directory of [journal, target, data]) sync(directory);
  for (const { file, seq } of new FileSnapshots(nodeDisk, folder.journal, logId).list()) {
    if (seq.batch > end.batch) renameSync(file, join(journal, basename(file)));
  }
  keepCheckpointsUpTo(folder.checkpoints, end.batch);
  if (existsSync(folder.history)) renameSync(folder.history, join(target, "history"));
  for (const directory of [journal, target, folder.journal, data]) sync(directory);
  return target;
}

/** Whether this checkpoint of the transparency log was the last one when the log's end was given up. */
export function isGivenUp(folder: DataFolder, logCheckpoint: string): boolean {
  const data = dirname(folder.logCheckpoint);
  return readdirSync(data)
    .filter((name) => name.startsWith(GIVEN_UP))
    .map((name) => join(data, name, basename(folder.logCheckpoint)))
    .some((file) => existsSync(file) && readFileSync(file, "utf8") === logCheckpoint);
}

/** Removes checkpoints past the end: they would show the loss again. */
function keepCheckpointsUpTo(path: string, batch: number): void {
  if (!existsSync(path)) return;
  const kept = readCheckpointLines(path).lines.filter(
    ({ checkpoint }) => checkpoint.batch <= batch,
  );
  write(`${path}.new`, kept.map(({ text }) => `${text}\n`).join(""));
  renameSync(`${path}.new`, path);
}

function write(path: string, text: string): void {
  writeFileSync(path, text, { mode: 0o600 });
  sync(path);
}

function copy(from: string, to: string): void {
  copyFileSync(from, to);
  sync(to);
}
