/** A witness that misbehaves as an HTTP server. */
import { serve } from "@perpgate/protocol/testing/serve";
import { expect, onTestFinished, test } from "vitest";
import { newLogKey } from "../receipts/log-key.js";
import { StubWitness } from "../testing/stub-witness.js";
import { Witness } from "./witness.js";

test("submit: an answer without end is read up to its bound, and counts as failed", async () => {
  const piece = "x".repeat(16_384);
  const url = await serve((_request, response) => {
    const write = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", write);
    write();
  });
  const { key } = newLogKey("witness.example");
  const witness = new Witness({ url, key });
  const answer = await witness.submit(
    { note: "", size: 0, consistencyFrom: () => [] },
    new AbortController().signal,
  );
  expect(answer).toEqual({ kind: "failed", reason: expect.stringContaining("65536 bytes") });
});

test.each([
  ["its size twice", ["3\n", "3\n"], { kind: "inconsistent", size: 3 }],
  ["its size, then nothing", ["3\n", ""], { kind: "inconsistent", size: 3 }],
  ["a larger size meanwhile", ["3\n", "5\n"], { kind: "ahead", size: 5 }],
  ["a smaller size twice", ["2\n", "2\n"], { kind: "failed", reason: "it does not say its size" }],
  ["nothing", [""], { kind: "failed", reason: "its size cannot be read" }],
  ["a size in another form", ["0x3\n"], { kind: "failed", reason: "its size cannot be read" }],
])("submit: a conflict of sizes, and the witness states %s", async (_, texts, answer) => {
  const stub = await StubWitness.start();
  onTestFinished(() => stub.close());
  const left = [...texts];
  stub.onCheckpoint = async () => ({ status: 409, text: left.shift() ?? "" });
  const submission = { note: "", size: 3, consistencyFrom: () => [] };
  const { signal } = new AbortController();
  expect(await new Witness(stub).submit(submission, signal)).toEqual(answer);
  expect(left).toEqual([]);
});
