/** The verdict on a delivered message. Every replica reaches the same one: it depends on the log alone. */

import type { CoreLogHooks } from "@perpgate/journal";
import { decodeMessage, type Message, type MessageVerdict } from "@perpgate/journal";
import type { MessageChain } from "./chain.js";
import type { Incoming } from "./incoming.js";
import { coreSubject, subjectOf } from "./subjects.js";

export interface Judgement {
  readonly verdict: MessageVerdict;
  /** Undefined if malformed. */
  readonly message: Message | undefined;
  /** Of a core's message: whether it has this replica's log and blocks; undefined if that does not show. */
  readonly agrees: boolean | undefined;
  /** Why a core's message contradicts this replica's log; empty if its chain does not. */
  readonly problem: string;
}

const MALFORMED: Judgement = {
  verdict: "malformed",
  message: undefined,
  agrees: undefined,
  problem: "",
};

/**
 * Judges message last + 1, which is not yet in the chain.
 *
 * @throws UnknownMessage when a newer release wrote it.
 */
export function judgeMessage(
  stream: string,
  chain: MessageChain,
  { subject, data }: Incoming,
  blocks: Pick<CoreLogHooks, "lastBlock" | "blockHash">,
): Judgement {
  if (subject === coreSubject(stream)) return judgeFenced(chain, data, blocks);
  // Of a gateway of release 0.2.
  const prefix = subjectOf(stream, "");
  const writer = subject.startsWith(prefix) ? subject.slice(prefix.length) : "";
  // Rubbish elsewhere must not pass for a newer release's message, which stops the gateway.
  if (!/^[0-9a-f]{32}$/.test(writer)) return MALFORMED;
  const message = decodeMessage(data);
  if (message?.writer !== writer || message.isFenced === true) return MALFORMED;
  const { claim } = message;
  const verdict = chain.fault(claim) === undefined ? "sound" : "chain";
  return { verdict, message, agrees: undefined, problem: "" };
}

/** A message of a core: the stream stored it behind the message that it names. */
function judgeFenced(
  chain: MessageChain,
  data: Uint8Array,
  blocks: Pick<CoreLogHooks, "lastBlock" | "blockHash">,
): Judgement {
  const message = decodeMessage(data);
  if (message?.isFenced !== true) return MALFORMED;
  const { claim, block } = message;
  const isNext = claim.seq === chain.last && Buffer.compare(claim.chain, chain.head) === 0;
  if (isNext) return { verdict: "sound", message, agrees: isSame(block, blocks), problem: "" };
  const problem = `its chain up to sequence ${claim.seq} differs from this core's`;
  return { verdict: "chain", message, agrees: false, problem };
}

/** Whether this replica has the block of a writer whose claim it has; undefined if it is too old. */
function isSame(
  { number, hash }: Message["block"],
  blocks: Pick<CoreLogHooks, "lastBlock" | "blockHash">,
): boolean | undefined {
  // The writer had applied no more than this replica has.
  if (number > blocks.lastBlock().number) return false;
  const known = blocks.blockHash(number);
  return known === undefined ? undefined : Buffer.compare(known, hash) === 0;
}
