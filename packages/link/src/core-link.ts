/**
 * A core's end of a link: takes requests and answers each once, in any order.
 *
 * An edge that sends another version, what only cores send, or more requests than its window ends its
 * link with a message. One whose requests in flight have more than 64 MiB is not read until some are answered. A request that fails is answered with `internal_error`, and reported here.
 */

import { ApiError } from "@perpgate/protocol/core";
import { otherVersion } from "./edge-link.js";
import {
  type AnswerBodies,
  type AnswerFrame,
  type CoreNotice,
  type EdgeNotice,
  type Frame,
  isCommand,
  LINK_VERSION,
  type Notes,
  type NoticeBodies,
  type NoticeFrame,
  type NoticeHandlers,
  type NoticeName,
  type RefusalFrame,
  type RequestBodies,
  type RequestFrame,
  type RequestName,
} from "./frames.js";
import { refusalOf } from "./refusal.js";
import type { LinkTransport, Receiver } from "./transport.js";

/** What may wait for an edge before it is no longer sent what shows the latest state. */
const ROOM_BYTES = 1 << 20;
/** What may wait for an edge at all. */
const MAX_WAITING_BYTES = 1 << 27;
/** Of an edge's requests in flight, as long as what it may have waiting for the core to read. */
export const MAX_BYTES_IN_FLIGHT = 1 << 26;

/** What a handler adds to its answer or refusal, and what the request says besides its fields. */
export type NotesInMaking = { -readonly [K in keyof Notes]: Notes[K] } & {
  readonly asked: Pick<RequestFrame, "isAgain" | "terms">;
};

/** Returned by a handler that calls `reply` instead of making a promise. */
export const LATER: unique symbol = Symbol("later");

/** Answers or refuses a request; one of the two must be called, once. */
export interface Reply<N extends RequestName> {
  answer(body: AnswerBodies[N]): void;
  refuse(error: unknown): void;
}

/** One for each request. An `ApiError` that it throws, or rejects with, is the refusal. */
export type RequestHandlers = {
  readonly [N in RequestName]: (
    body: RequestBodies[N],
    notes: NotesInMaking,
    reply: Reply<N>,
  ) => AnswerBodies[N] | Promise<AnswerBodies[N]> | typeof LATER;
};

export interface CoreLinkOptions {
  readonly handlers: RequestHandlers;
  /** They must not throw. */
  readonly notices: NoticeHandlers<EdgeNotice>;
  /** Requests of the edge that may be in flight. */
  readonly window: number;
  readonly isReplicated: boolean;
  /** The epoch of the core that leads, as far as this core has applied the log. */
  readonly epoch: () => number;
  readonly isLeading: () => boolean;
  /** The last position that is applied. */
  readonly position: () => number;
  /** The venue's time. */
  readonly timeMs: () => number;
  /**
   * Calls back once every command that was taken by now is executed or given up. A command that is sent again
   * waits for that: its first copy may be among them.
   */
  readonly whenSettled: (callback: () => void) => void;
  /** A request failed with what is no `ApiError`: a fault of the core. */
  readonly onFault: (error: unknown, request: RequestName) => void;
}

export class CoreLink implements Receiver {
  /** Resolves with the reason when the link ends. */
  readonly closed: Promise<Error>;
  /** Resolves once the link has ended and every request of the edge has been executed or refused. */
  readonly finished: Promise<void>;
  private readonly transport: LinkTransport;
  /** The bytes of each request by its id, and of all. */
  private readonly inFlight = new Map<number, number>();
  private bytesInFlight = 0;
  private readonly notices: Partial<NoticeHandlers>;
  /** Requests whose handlers have not settled, also after the end. */
  private running = 0;
  /** Whether the edge has said hello. */
  isGreeted = false;
  private reason: Error | undefined;
  private onClosed: (reason: Error) => void = () => undefined;
  private onFinished: () => void = () => undefined;

  constructor(
    connect: (receiver: Receiver) => LinkTransport,
    private readonly options: CoreLinkOptions,
  ) {
    this.closed = new Promise((resolve) => {
      this.onClosed = resolve;
    });
    this.finished = new Promise((resolve) => {
      this.onFinished = resolve;
    });
    this.notices = {
      ...options.notices,
      hello: ({ version }) => this.greet(version),
      bye: ({ reason }) => this.end(new Error(reason)),
    };
    this.transport = connect(this);
  }

  /**
   * Whether the edge reads fast enough for what shows the latest state, which is left out otherwise.
   * Nothing else may be left out: an edge that lets `MAX_WAITING_BYTES` of it wait loses its link.
   */
  get hasRoom(): boolean {
    return this.transport.waitingBytes <= ROOM_BYTES;
  }

  get isFull(): boolean {
    return this.bytesInFlight > MAX_BYTES_IN_FLIGHT;
  }

  /** No-op after the link has ended. */
  notify<N extends CoreNotice>(name: N, body: NoticeBodies[N]): void {
    if (this.reason === undefined) this.tell(name, body);
  }

  /**
   * Says whether the core leads, when that has changed. One that leads no more answers nothing that it had
   * in flight, and takes nothing: the edge asks the core that leads.
   */
  tellRole(): void {
    const isLeading = this.options.isLeading();
    if (!isLeading) this.forgetAll();
    if (this.isGreeted) this.notify("role", { isLeading });
  }

  close(reason = "the core stops"): void {
    if (this.reason !== undefined) return;
    this.tell("bye", { reason });
    this.end(new Error(reason));
  }

  receive(frame: Frame, bytes = 0): void {
    if (this.reason !== undefined) return;
    switch (frame.kind) {
      case "notice":
        this.receiveNotice(frame);
        return;
      case "request":
        this.receiveRequest(frame, bytes);
        return;
      default:
        this.close("an edge answers nothing");
    }
  }

  ended(problem: Error | undefined): void {
    this.end(problem ?? new Error("the edge has ended the link"));
  }

  private receiveNotice<N extends NoticeName>({ name, body }: NoticeFrame<N>): void {
    const isDue = name === "bye" || this.isGreeted !== (name === "hello");
    const handle = isDue ? this.notices[name] : undefined;
    if (handle === undefined) this.close(`an edge sends no ${name} here`);
    else handle(body);
  }

  private greet(version: number): void {
    if (version !== LINK_VERSION) {
      this.close(otherVersion("core", LINK_VERSION, "edge", version));
      return;
    }
    this.isGreeted = true;
    const { window, isReplicated } = this.options;
    const [isLeading, timeMs] = [this.options.isLeading(), this.options.timeMs()];
    this.tell("welcome", { version: LINK_VERSION, window, isReplicated, isLeading, timeMs });
  }

  private receiveRequest<N extends RequestName>(request: RequestFrame<N>, bytes: number): void {
    const { name, id, body } = request;
    const { window, handlers } = this.options;
    if (!this.isGreeted) {
      this.close(`the edge sends ${name} before hello`);
      return;
    }
    if (this.inFlight.has(id) || this.inFlight.size >= window) {
      const problem = this.inFlight.has(id)
        ? `uses id ${id} twice`
        : `has over ${window} in flight`;
      this.close(`the edge ${problem}`);
      return;
    }
    // The edge did not know it when it asked; it learns it before any answer.
    if (!this.options.isLeading()) return;
    this.inFlight.set(id, bytes);
    this.bytesInFlight += bytes;
    const notes = notesOf(request);
    this.running++;
    const finish = (): void => {
      this.running--;
      this.finishIfDone();
    };
    const reply: Reply<N> = {
      answer: (settled) => {
        this.answer(name, id, notes, settled);
        finish();
      },
      refuse: (error) => {
        this.refuse(name, id, notes, error);
        finish();
      },
    };
    const handle = (): void => {
      try {
        const answer = handlers[name](body, notes, reply);
        if (answer === LATER) return;
        if (answer instanceof Promise) answer.then(reply.answer, reply.refuse);
        else reply.answer(answer);
      } catch (error) {
        reply.refuse(error);
      }
    };
    if (!request.isAgain || !isCommand(name)) {
      handle();
      return;
    }
    this.options.whenSettled(() => {
      // Unless the link or the lead has ended meanwhile: then its edge sends it once more.
      if (this.inFlight.has(id)) handle();
      else finish();
    });
  }

  private answer<N extends RequestName>(
    name: N,
    id: number,
    notes: Notes,
    body: AnswerBodies[N],
  ): void {
    if (!this.inFlight.has(id)) return;
    const frame: AnswerFrame<N> = {
      kind: "answer",
      name,
      id,
      ...this.stamp(),
      notes: saidOf(notes),
      body,
    };
    try {
      this.send(frame);
      this.forget(id);
    } catch (error) {
      this.refuse(name, id, notes, error);
    }
  }

  private refuse(name: RequestName, id: number, notes: Notes, error: unknown): void {
    if (!(error instanceof ApiError)) this.options.onFault(error, name);
    if (!this.forget(id)) return;
    const body = refusalOf(error);
    const frame: RefusalFrame = {
      kind: "refusal",
      id,
      ...this.stamp(),
      notes: saidOf(notes),
      body,
    };
    this.send(frame);
  }

  /** Returns whether it was in flight. */
  private forget(id: number): boolean {
    this.bytesInFlight -= this.inFlight.get(id) ?? 0;
    return this.inFlight.delete(id);
  }

  private forgetAll(): void {
    this.inFlight.clear();
    this.bytesInFlight = 0;
  }

  private tell<N extends NoticeName>(name: N, body: NoticeBodies[N]): void {
    const frame: NoticeFrame<N> = { kind: "notice", name, ...this.stamp(), body };
    this.send(frame);
  }

  private send(frame: Frame): void {
    this.transport.send(frame);
    const { waitingBytes } = this.transport;
    if (waitingBytes <= MAX_WAITING_BYTES) return;
    this.end(new Error(`the edge does not read: ${waitingBytes} bytes wait for it`));
  }

  private stamp(): { epoch: number; position: number } {
    return { epoch: this.options.epoch(), position: this.options.position() };
  }

  private end(reason: Error): void {
    if (this.reason !== undefined) return;
    this.reason = reason;
    this.forgetAll();
    this.transport.end();
    this.onClosed(reason);
    this.finishIfDone();
  }

  private finishIfDone(): void {
    if (this.reason !== undefined && this.running === 0) this.onFinished();
  }
}

export function notesOf({
  isAgain,
  terms,
}: Pick<RequestFrame, "isAgain" | "terms">): NotesInMaking {
  const asked = { isAgain, terms };
  return { counted: undefined, rows: 0, work: 0, isReplay: false, historyBefore: 0, asked };
}

function saidOf({ counted, rows, work, isReplay, historyBefore }: Notes): Notes {
  return { counted, rows, work, isReplay, historyBefore };
}
