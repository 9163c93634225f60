import { headers } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { Doubt } from "./doubt.js";
import { fetched, type Incoming, pushed } from "./incoming.js";

const SUBJECT = "venue.log.a";
const DATA = Buffer.from("batch");

/** A message as a consumer pushes it: its time is in the reply subject, in nanoseconds. */
function pushedAt(nanoseconds: string): Incoming {
  const message = pushed({
    reply: `$JS.ACK.s.c.1.5.5.${nanoseconds}.0`,
    subject: SUBJECT,
    data: DATA,
  });
  if (message === undefined) throw new Error("not a message");
  return message;
}

/** The same message with its time as text. */
function fetchedAt(time: string): Incoming {
  const fields = headers();
  fields.set("Nats-Sequence", "5");
  fields.set("Nats-Subject", SUBJECT);
  fields.set("Nats-Time-Stamp", time);
  const message = fetched({ headers: fields, data: DATA });
  if (message === undefined) throw new Error("not a message");
  return message;
}

function contradictions(read: Incoming, answered: Incoming): number[] {
  const found: number[] = [];
  const doubt = new Doubt(
    "s",
    () => 0,
    (sequence) => found.push(sequence),
  );
  doubt.read(read);
  doubt.compare(answered);
  return found;
}

test.each([
  // As a double it is rounded up to the next millisecond.
  ["1800000000123999999", "2027-01-15T08:00:00.123999999Z"],
  ["1800000000123000000", "2027-01-15T08:00:00.123Z"],
  ["1800000000120000001", "2027-01-15T08:00:00.120000001Z"],
  ["1800000000000000000", "2027-01-15T08:00:00Z"],
])("compare: a message stored at %s ns is the one stored at %s", (nanoseconds, time) => {
  expect(contradictions(pushedAt(nanoseconds), fetchedAt(time))).toEqual([]);
  expect(contradictions(fetchedAt(time), pushedAt(nanoseconds))).toEqual([]);
});

test("compare: a message stored in the next millisecond is another one", () => {
  const read = pushedAt("1800000000123999999");
  expect(contradictions(read, fetchedAt("2027-01-15T08:00:00.124Z"))).toEqual([5]);
});
