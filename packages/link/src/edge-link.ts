/**
 * An edge's end of a link: requests and their answers, the core's notices, what the core has applied.
 *
 * A request is answered or refused once. If the link ends first, or the core leads no more, it rejects with
 * `stopped`: it may have been executed. At most `window` requests are in flight, which the core says in its `welcome`; one more
 * is refused here, before it costs the core anything.
 */

import { ApiError } from "@perpgate/protocol/core";
import type { CoreAccess, CoreAnswer, LeadEvents, OnNotes } from "./core-access.js";
import {
  type AnswerBodies,
  type AnswerFrame,
  type CoreNotice,
  type EdgeNotice,
  type Frame,
  LINK_VERSION,
  type Notes,
  type NoticeBodies,
  type NoticeFrame,
  type NoticeHandlers,
  type NoticeName,
  REQUESTS,
  type RequestBodies,
  type RequestFrame,
  type RequestName,
  type RequestTerms,
} from "./frames.js";
import { InFlight } from "./in-flight.js";
import { errorOf } from "./refusal.js";
import { RequestClock } from "./request-terms.js";
import type { LinkTransport, Receiver } from "./transport.js";

/** Requests that the core has not read; more is refused. */
const MAX_WAITING_BYTES = 1 << 26;

/** Of a request that was sent before and has no answer. */
export interface SentBefore {
  /** Those that it was sent with. */
  readonly terms: RequestTerms | undefined;
}

interface Pending {
  readonly id: number;
  answered(frame: AnswerFrame): void;
  refused(error: Error, notes: Notes | undefined): void;
}

export class EdgeLink implements Receiver, CoreAccess {
  /** The last lead and position that the core has shown. */
  epoch = 0;
  position = 0;
  /** Resolves once the core has answered `hello`; rejects if the link ends first. */
  readonly ready: Promise<void>;
  /** Resolves with the reason when the link ends. */
  readonly closed: Promise<Error>;
  private readonly transport: LinkTransport;
  private readonly pending = new InFlight<Pending>();
  private handlers: Partial<NoticeHandlers> = {
    welcome: (terms) => this.begin(terms),
    clock: ({ timeMs }) => this.clock.learn(timeMs),
    role: ({ isLeading }) => {
      this.terms = { ...this.terms, isLeading };
      if (!isLeading) this.refuseAll();
      this.onRole();
    },
    bye: ({ reason }) => this.end(new Error(reason)),
  };
  /** The last one that was sent before the core lost its lead. */
  private lastRefusedId = 0;
  private terms: NoticeBodies["welcome"] = {
    version: LINK_VERSION,
    window: 0,
    isReplicated: false,
    isLeading: false,
    timeMs: 0,
  };
  /** Called when the core has said whether it leads. */
  onRole: () => void = () => undefined;
  private reason: Error | undefined;
  private onReady: () => void = () => undefined;
  private onClosed: (reason: Error) => void = () => undefined;

  /** `clock`: of the edge's process. */
  constructor(
    connect: (receiver: Receiver) => LinkTransport,
    private readonly clock = new RequestClock(),
  ) {
    this.closed = new Promise((resolve) => {
      this.onClosed = resolve;
    });
    this.ready = new Promise((resolve, reject) => {
      this.onReady = resolve;
      void this.closed.then(reject);
    });
    this.ready.catch(() => undefined);
    this.transport = connect(this);
    this.tell("hello", { version: LINK_VERSION });
  }

  /** Whether the core leads, as it said last. */
  get isLeading(): boolean {
    return this.terms.isLeading;
  }

  /** Whether other cores write to the log, so that this one may be behind what they answered. */
  get isReplicated(): boolean {
    return this.terms.isReplicated;
  }

  get inFlight(): number {
    return this.pending.size;
  }

  /** Rejects with the `ApiError` that the core refuses with. */
  request<N extends RequestName>(
    name: N,
    body: RequestBodies[N],
    onNotes?: OnNotes,
  ): Promise<AnswerBodies[N]> {
    return requested(this, name, body, onNotes);
  }

  /**
   * As `request`, without a promise: `outcome` is called before any later frame of the core is received.
   * Returns the terms that it was sent with.
   *
   * @throws ApiError if the request cannot be sent.
   */
  ask<N extends RequestName>(
    name: N,
    body: RequestBodies[N],
    outcome: CoreAnswer<N>,
    before?: SentBefore,
  ): RequestTerms | undefined {
    if (this.reason !== undefined) throw new ApiError("stopped", {});
    const { waitingBytes } = this.transport;
    if (this.pending.size >= this.terms.window || waitingBytes > MAX_WAITING_BYTES) {
      throw new ApiError("overloaded", {});
    }
    const id = this.pending.nextId();
    // Before it is counted: a frame that cannot be sent is not in flight.
    const terms = before === undefined ? this.termsOf(name) : before.terms;
    this.send(name, id, body, before !== undefined, terms);
    this.pending.add({
      id,
      answered: (frame) => {
        if (isAnswerTo(frame, name)) {
          outcome.answered(frame.body, frame.notes);
          return;
        }
        outcome.refused(new ApiError("stopped", {}), undefined);
        this.close(`the core answers ${frame.name} where ${name} was asked`);
      },
      refused: (error, notes) => outcome.refused(error, notes),
    });
    return terms;
  }

  /** No-op after the link has ended. */
  notify<N extends EdgeNotice>(name: N, body: NoticeBodies[N]): void {
    if (this.reason === undefined) this.tell(name, body);
  }

  /** One handler for each notice, before the core is asked for it. It must not throw. */
  on<N extends CoreNotice>(handlers: NoticeHandlers<N>): void {
    this.handlers = { ...this.handlers, ...handlers };
  }

  /** No-op: its core leads as long as the link lasts. */
  onLead(_events: LeadEvents): void {}

  drop(reason: string): void {
    this.close(reason);
  }

  /** Ends the link; requests in flight reject. */
  close(reason = "the edge stops"): void {
    if (this.reason !== undefined) return;
    this.tell("bye", { reason });
    this.end(new Error(reason));
  }

  receive(frame: Frame): void {
    if (this.reason !== undefined || frame.epoch < this.epoch) return;
    this.epoch = frame.epoch;
    this.position = Math.max(this.position, frame.position);
    switch (frame.kind) {
      case "notice":
        this.receiveNotice(frame);
        return;
      case "answer":
        this.take(frame.id)?.answered(frame);
        return;
      case "refusal":
        this.take(frame.id)?.refused(errorOf(frame.body), frame.notes);
        return;
      case "request":
        this.close("a core sends no requests");
    }
  }

  ended(problem: Error | undefined): void {
    this.end(problem ?? new Error("the core has ended the link"));
  }

  private receiveNotice<N extends NoticeName>({ name, body }: NoticeFrame<N>): void {
    const handle = this.handlers[name];
    if (handle === undefined) this.close(`a core sends no ${name} here`);
    else handle(body);
  }

  private begin(terms: NoticeBodies["welcome"]): void {
    if (terms.version !== LINK_VERSION) {
      this.close(otherVersion("edge", LINK_VERSION, "core", terms.version));
      return;
    }
    this.terms = terms;
    this.clock.learn(terms.timeMs);
    this.onReady();
  }

  private take(id: number): Pending | undefined {
    const pending = this.pending.get(id);
    if (pending === undefined) {
      // Sent before the core lost its lead, and received after it led again.
      if (id <= this.lastRefusedId) return undefined;
      this.close(`the core answers ${id}, which is no request in flight`);
      return undefined;
    }
    this.pending.delete(pending);
    return pending;
  }

  private termsOf(name: RequestName): RequestTerms | undefined {
    return REQUESTS[name].isUnsigned ? this.clock.next() : undefined;
  }

  private send<N extends RequestName>(
    name: N,
    id: number,
    body: RequestBodies[N],
    isAgain: boolean,
    terms: RequestTerms | undefined,
  ): void {
    const { epoch, position } = this;
    const kind = "request";
    const frame: RequestFrame<N> = { kind, name, id, epoch, position, isAgain, terms, body };
    this.transport.send(frame);
  }

  private tell<N extends NoticeName>(name: N, body: NoticeBodies[N]): void {
    const { epoch, position } = this;
    const frame: NoticeFrame<N> = { kind: "notice", name, epoch, position, body };
    this.transport.send(frame);
  }

  private end(reason: Error): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.transport.end();
    this.refuseAll();
    this.onClosed(reason);
  }

  /** What the core has not answered it answers no more. */
  private refuseAll(): void {
    const pending = this.pending.all();
    for (const each of pending) this.pending.delete(each);
    this.lastRefusedId = this.pending.lastId;
    for (const each of pending) each.refused(new ApiError("stopped", {}), undefined);
  }
}

/** What `ask` says, as a promise. */
export function requested<N extends RequestName>(
  access: Pick<CoreAccess, "ask">,
  name: N,
  body: RequestBodies[N],
  onNotes: OnNotes | undefined,
): Promise<AnswerBodies[N]> {
  return new Promise((resolve, reject) => {
    access.ask(name, body, {
      answered: (answer, notes) => {
        onNotes?.(notes);
        resolve(answer);
      },
      refused: (error, notes) => {
        if (notes !== undefined) onNotes?.(notes);
        reject(error);
      },
    });
  });
}

function isAnswerTo<N extends RequestName>(frame: AnswerFrame, name: N): frame is AnswerFrame<N> {
  return frame.name === name;
}

export function otherVersion(own: string, ours: number, other: string, theirs: number): string {
  return `the ${own} has version ${ours} of the link, the ${other} version ${theirs}`;
}
