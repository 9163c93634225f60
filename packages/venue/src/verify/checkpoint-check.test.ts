import { checkpointText, signatureLine } from "@perpgate/protocol/receipts";
import { TestCosigner } from "@perpgate/protocol/testing";
import { expect, test } from "vitest";
import { encodeHeader, NO_PARENT, seal } from "../blocks/block-header.js";
import { MerkleAccumulator } from "../blocks/merkle.js";
import { newLogKey, signWith } from "../receipts/log-key.js";
import { CheckpointCheck } from "./checkpoint-check.js";

const { key } = newLogKey("venue.example/log");

const block = (number: number, timeMs: number) =>
  seal({
    number,
    parentHash: NO_PARENT,
    firstPosition: number,
    lastPosition: number,
    ackCount: 0,
    acksRoot: NO_PARENT,
    ackListHash: NO_PARENT,
    eventsHash: NO_PARENT,
    timeMs,
  });

/** A checkpoint over the first block alone, and `blocks` in all. */
async function faultAfter(blocks: number, gapMs: number): Promise<string | null> {
  const tree = new MerkleAccumulator();
  tree.add(encodeHeader(block(1, gapMs)));
  const text = checkpointText({ origin: key.name, size: 1, root: tree.root() });
  const line = signatureLine(key, signWith(key.privateKey, Buffer.from(text)));
  const signed = { logCheckpoint: `${text}\n${line}`, isGivenUp: false };
  const check = new CheckpointCheck(signed, [], [key]);
  for (let number = 1; number <= blocks; number++) {
    expect(check.onBlock(block(number, number * gapMs))).toBeNull();
  }
  return check.endFault();
}

test("an older checkpoint in place of the last one: found once it leaves two minutes uncovered", async () => {
  expect(await faultAfter(601, 200)).toBeNull();
  expect(await faultAfter(602, 200)).toBe(
    "the last signed checkpoint covers 1 blocks, the 601 after it none",
  );
});

test("hours without blocks after the checkpoint: no fault", async () => {
  expect(await faultAfter(100, 3_600_000)).toBeNull();
});

test("a kept checkpoint: needs the cosignatures of the policy, the folder's own does not", async () => {
  const witness = new TestCosigner();
  const policy = { keys: [witness.key], required: 1 };
  const tree = new MerkleAccumulator();
  tree.add(encodeHeader(block(1, 200)));
  const text = checkpointText({ origin: key.name, size: 1, root: tree.root() });
  const note = `${text}\n${signatureLine(key, signWith(key.privateKey, Buffer.from(text)))}`;
  const faultOf = async (kept: string) => {
    const check = new CheckpointCheck(
      { logCheckpoint: note, isGivenUp: false },
      [kept],
      [key],
      policy,
    );
    expect(check.onBlock(block(1, 200))).toBeNull();
    return check.endFault();
  };
  expect(await faultOf(note)).toBe(
    "the kept checkpoint: the checkpoint has 0 of the 1 cosignatures that are required",
  );
  expect(await faultOf(note + witness.line(text))).toBeNull();
});
