/**
 * What goes wrong on demand. Refusals and lost answers are made on the link between gateway and core, so
 * that the gateway sends them to clients as those of a core: status, body, headers, frames.
 */

import {
  type CoreAnswer,
  EdgeLink,
  type Notes,
  type RequestBodies,
  type RequestClock,
  type RequestName,
  type RequestTerms,
  type SentBefore,
} from "@perpgate/link";
import {
  ApiError,
  ERROR_TABLE,
  type ErrorCode,
  isErrorCode,
  RelayedMessage,
} from "@perpgate/protocol/core";
import { OPERATIONS } from "@perpgate/protocol/operations";
import { rateLimitedError } from "@perpgate/protocol/token-buckets";
import type { RunRecorder } from "./report/run-recorder.js";
import type { Latency } from "./wire.js";

export interface NextRequests {
  /** How many. Default: 1. */
  readonly next?: number;
  /** Their names in the OpenAPI document. Default: those that place or amend orders. */
  readonly operations?: readonly string[];
}

export interface RefusalOptions extends NextRequests {
  /** The values of the code's message, such as `{ available: 5 }`. */
  readonly values?: Readonly<Record<string, string | number>>;
  readonly field?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

interface Planned {
  readonly operations: ReadonlySet<string>;
  left: number;
  /** Undefined: the request is executed, and its answer lost. */
  readonly error: ApiError | undefined;
}

const MAX_LATENCY_MS = 60_000;
const NO_LATENCY = { ms: 0, jitter: 0 };
const ORDERS = ["placeOrder", "placeBatch", "amendOrder"];
const OPERATION_NAMES = new Set<string>(OPERATIONS.map(({ id }) => id));
const RATE_LIMIT = { limit: "orders", quota: 200, windowSeconds: 2 } as const;

/** The plan of a test; survives a restart of the gateway. */
export class PlannedFaults {
  latency: Required<Latency> = NO_LATENCY;
  private planned: Planned[] = [];

  refuse(code: string, options: RefusalOptions): void {
    this.add(options, errorOf(code, options));
  }

  delay({ ms, jitter = 0 }: Latency): void {
    if (!(ms >= 0 && ms <= MAX_LATENCY_MS && jitter >= 0 && jitter <= MAX_LATENCY_MS)) {
      throw new RangeError(`ms and jitter are 0 to ${MAX_LATENCY_MS} milliseconds`);
    }
    this.latency = { ms, jitter };
  }

  loseAnswers(options: NextRequests): void {
    this.add(options, undefined);
  }

  clear(): void {
    this.planned = [];
    this.latency = NO_LATENCY;
  }

  /** What becomes of a request that is sent now; counts it. */
  take(operation: string): Planned | undefined {
    const found = this.planned.find(({ operations }) => operations.has(operation));
    if (found === undefined) return undefined;
    if (--found.left === 0) this.planned = this.planned.filter((one) => one !== found);
    return found;
  }

  private add({ next = 1, operations }: NextRequests, error: ApiError | undefined): void {
    if (!(Number.isSafeInteger(next) && next > 0)) {
      throw new RangeError(`next is a number of requests above 0, not ${next}`);
    }
    const asked = operations ?? ORDERS.filter((one) => mayBeRefused(one, error));
    const wrong = asked.find((one) => !mayBeRefused(one, error));
    if (wrong !== undefined || asked.length === 0) {
      throw new RangeError(`${wrong ?? "an order"} is never refused with ${error?.code}`);
    }
    this.planned.push({ operations: new Set(asked), left: next, error });
  }
}

/** Codes that any operation may be refused with. */
const ANY = new Set<string>([
  "rate_limited",
  "internal_error",
  "overloaded",
  "stopped",
  "outcome_unknown",
  "not_executed",
]);

function mayBeRefused(operation: string, error: ApiError | undefined): boolean {
  const known = OPERATIONS.find(({ id }) => id === operation);
  if (known === undefined) throw new RangeError(`no operation is called ${operation}`);
  return error === undefined || ANY.has(error.code) || known.errors.includes(error.code);
}

function errorOf(code: string, { values = {}, field, details }: RefusalOptions): ApiError {
  if (!isErrorCode(code)) throw new RangeError(`${code} is no code of the error table`);
  if (code === "rate_limited") return rateLimitedError(RATE_LIMIT.limit, 1_000);
  return new ApiError<ErrorCode>(code, new RelayedMessage(messageOf(code, values)), {
    ...(field === undefined ? {} : { field }),
    ...(details === undefined ? {} : { details }),
  });
}

function messageOf(code: ErrorCode, values: Readonly<Record<string, string | number>>): string {
  return ERROR_TABLE[code].message.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    if (value !== undefined) return String(value);
    throw new RangeError(`the message of ${code} says ${name}: give it in values`);
  });
}

/** The gateway's end of the link, in a sandbox. */
export class FaultyLink extends EdgeLink {
  constructor(
    connect: ConstructorParameters<typeof EdgeLink>[0],
    private readonly faults: PlannedFaults,
    private readonly recorder: RunRecorder,
    /** Resolves once the account that signed in has its dollars. */
    private readonly granted: () => Promise<void>,
    clock: RequestClock,
  ) {
    super(connect, clock);
  }

  override ask<N extends RequestName>(
    name: N,
    body: RequestBodies[N],
    outcome: CoreAnswer<N>,
    before?: SentBefore,
  ): RequestTerms | undefined {
    const recorded = this.recorded(name, outcome);
    const fault = this.faults.take(name);
    if (fault === undefined) {
      return super.ask(name, body, recorded, before);
    }
    const { error } = fault;
    if (error !== undefined) {
      const notes = error.code === "rate_limited" ? SPENT : undefined;
      queueMicrotask(() => recorded.refused(error, notes));
      return undefined;
    }
    // As when the link ends before the answer: the gateway cannot know.
    const lost = (): void => recorded.refused(new ApiError("stopped", {}), undefined);
    return super.ask(name, body, { answered: lost, refused: lost }, before);
  }

  private recorded<N extends RequestName>(name: N, outcome: CoreAnswer<N>): CoreAnswer<N> {
    if (!OPERATION_NAMES.has(name)) return outcome;
    const startMs = performance.now();
    if (ORDERS.includes(name)) this.recorder.noteMiddles();
    const note = (refusal?: string) =>
      this.recorder.noteRequest(name, performance.now() - startMs, refusal);
    return {
      answered: (body, notes) => {
        note();
        if (name !== "signIn") {
          outcome.answered(body, notes);
          return;
        }
        this.granted().then(
          () => outcome.answered(body, notes),
          () => outcome.refused(new ApiError("internal_error", {}), notes),
        );
      },
      refused: (error, notes) => {
        note(error instanceof ApiError ? error.code : error.name);
        outcome.refused(error, notes);
      },
    };
  }
}

const SPENT: Notes = {
  counted: { ...RATE_LIMIT, remaining: 0, fullInSeconds: 2 },
  rows: 0,
  work: 0,
  isReplay: false,
  historyBefore: 0,
};
