/** Gives unsigned commands the terms of requests, and sends some again where the rules know the terms. */
import type { Random } from "@perpgate/protocol/random";
import type { Command } from "../../commands.js";
import { rulesOf, type State } from "../reference/state.js";
import type { Happening } from "./gateways.js";

type Asked = Extract<Command, { readonly kind: (typeof UNSIGNED)[number] }>;

/** Of those that are sent again. */
const REMEMBERED = 40;
const UNSIGNED = [
  "CancelOrder",
  "CancelAll",
  "CancelAfter",
  "OpenSession",
  "RotateSession",
  "CloseSession",
  "SetSessionOption",
] as const;
const CANCELS: readonly Happening["kind"][] = ["CancelOrder", "CancelAll", "CancelAfter"];

export function* asRequests(
  random: Random,
  state: State,
  happenings: Iterable<Happening>,
): Generator<Happening> {
  const sent: Asked[] = [];
  for (const happening of happenings) {
    const asked = random.chance(0.7) ? withTerms(random, state, happening) : undefined;
    yield asked ?? happening;
    if (asked !== undefined) sent.push(asked);
    if (sent.length > REMEMBERED) sent.shift();
    if (sent.length > 0 && rulesOf(state).requestsAreKept && random.chance(0.01)) {
      yield { ...random.pick(sent), stampMs: state.lastTick };
    }
  }
}

function withTerms(random: Random, state: State, happening: Happening): Asked | undefined {
  switch (happening.kind) {
    case "CancelOrder":
    case "CancelAll":
    case "CancelAfter":
    case "OpenSession":
    case "RotateSession":
    case "CloseSession":
    case "SetSessionOption":
      break;
    default:
      return undefined;
  }
  if ("batch" in happening && happening.batch !== undefined) return undefined;
  const half = (): string =>
    random
      .below(2 ** 32)
      .toString(16)
      .padStart(16, "0");
  const notAfterMs = state.time + 10_000 + random.int(-2_000, 2_000);
  const terms = { id: half() + half(), notAfterMs };
  // A sign-in that is refused would leave its trader without a session.
  if (!CANCELS.includes(happening.kind) || !random.chance(0.03)) {
    return { ...happening, request: terms };
  }
  const wrong = random.pick([
    { ...terms, notAfterMs: state.time - random.int(1, 1_000) },
    { ...terms, notAfterMs: state.time + 30_000 + random.int(200, 5_000) },
    { ...terms, id: "ab" },
  ]);
  return { ...happening, request: wrong };
}
