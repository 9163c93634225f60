/**
 * An edge's end of its links to all cores of a venue: each request goes to the core that leads.
 *
 * A core leads for this edge if it says so and its epoch is not below the highest that any core has named.
 * When it says so no more, or its link is lost, what it has not answered is sent again, with the same fields
 * and terms, to the core that leads then; what the old one still answers is ignored. Commands that were never
 * sent wait for 5 s: they are not executed. What has no answer after 10 s has an unknown outcome. Reads that
 * find no leader are refused.
 */

import { ApiError } from "@perpgate/protocol/core";
import type { CoreAccess, CoreAnswer, LeadEvents, OnNotes } from "./core-access.js";
import { EdgeLink, requested } from "./edge-link.js";
import {
  type AnswerBodies,
  type CoreNotice,
  type EdgeNotice,
  isCommand,
  type NoticeBodies,
  type NoticeHandlers,
  type RequestBodies,
  type RequestName,
  type RequestTerms,
} from "./frames.js";
import { InFlight } from "./in-flight.js";
import { RequestClock } from "./request-terms.js";
import type { LinkTransport, Receiver } from "./transport.js";

export interface RoutedCore {
  readonly name: string;
  /** Rejects if nobody answers there. */
  connect(): Promise<(receiver: Receiver) => LinkTransport>;
}

export interface RouterEvents {
  /** Another core leads, the first one included. */
  switched(core: string): void;
  /** A core cannot be reached, or its link has ended; called once until it is reached again. */
  lost(core: string, reason: Error): void;
}

/** What was never sent waits for a leader for as long. */
const UNSENT_MS = 5_000;
/** What was sent waits for its answer for as long, from when it was asked. */
const UNANSWERED_MS = 10_000;
const CHECK_MS = 100;
/** Between two attempts to reach a core: doubled after each that failed. */
const CONNECT_AGAIN_MS = 200;
const LONGEST_PAUSE_MS = 2_000;
/** Parts of a client's request that waits for a leader itself, as commands do. */
const STEPS: ReadonlySet<RequestName> = new Set([
  "getSession",
  "prepareSignIn",
  "prepareSessionChange",
  "connectSession",
  "disconnectSession",
]);

/** Says what an edge has over its link, which ends with that. */
const OF_A_LINK: RequestName = "connectSession";

interface Waiting {
  readonly id: number;
  readonly name: RequestName;
  readonly isCommand: boolean;
  readonly askedAtMs: number;
  isSent: boolean;
  /** Over which it was sent last; undefined while there is no leader. */
  link: EdgeLink | undefined;
  sendOver(link: EdgeLink): void;
  refuse(error: Error): void;
}

/** The refusal of a core that stops: it may have executed what it refuses. */
function isStopping(error: Error): boolean {
  return error instanceof ApiError && error.code === "stopped";
}

export class CoreRouter implements CoreAccess {
  /** The highest epoch, and of its cores the highest position, that any core has named. */
  epoch = 0;
  private shown = 0;
  private readonly clock: RequestClock;
  private readonly links = new Map<EdgeLink, string>();
  private readonly waiting = new InFlight<Waiting>();
  private readonly lostCores = new Set<string>();
  private leading: EdgeLink | undefined;
  private handlers: Partial<NoticeHandlers> = {};
  private readonly leads = new Set<LeadEvents>();
  /** Resolves once the first core leads. */
  readonly ready: Promise<void>;
  /** Resolves once `close` was called. */
  readonly closed: Promise<Error>;
  private onReady: () => void = () => undefined;
  private onClosed: (reason: Error) => void = () => undefined;
  private wasReplicated = false;
  private readonly checks: NodeJS.Timeout;
  private isClosed = false;

  constructor(
    cores: readonly RoutedCore[],
    private readonly events: RouterEvents,
    /** Monotonic. */
    private readonly nowMs: () => number = () => performance.now(),
  ) {
    this.clock = new RequestClock(nowMs);
    this.ready = new Promise((resolve) => {
      this.onReady = resolve;
    });
    this.closed = new Promise((resolve) => {
      this.onClosed = resolve;
    });
    this.checks = setInterval(() => this.check(), CHECK_MS);
    for (const core of cores) void this.keepLinked(core);
  }

  /** The core that leads; undefined while none is known. */
  get leader(): EdgeLink | undefined {
    return this.leading;
  }

  /** The last position that a leader has shown. */
  get position(): number {
    return Math.max(this.shown, this.leading?.position ?? 0);
  }

  get isReplicated(): boolean {
    return this.leading?.isReplicated ?? this.wasReplicated;
  }

  get inFlight(): number {
    return this.waiting.size;
  }

  /** As `EdgeLink.request`. */
  request<N extends RequestName>(
    name: N,
    body: RequestBodies[N],
    onNotes?: OnNotes,
  ): Promise<AnswerBodies[N]> {
    return requested(this, name, body, onNotes);
  }

  /** As `EdgeLink.ask`; `outcome` is called once, whichever core answers. */
  ask<N extends RequestName>(name: N, body: RequestBodies[N], outcome: CoreAnswer<N>): void {
    if (this.isClosed) throw new ApiError("stopped", {});
    if (this.leading === undefined && !isCommand(name) && !STEPS.has(name)) throw this.lagging();
    let terms: RequestTerms | undefined;
    const waiting: Waiting = {
      id: this.waiting.nextId(),
      name,
      isCommand: isCommand(name),
      askedAtMs: this.nowMs(),
      isSent: false,
      link: undefined,
      sendOver: (link) => {
        const isCurrent = (): boolean =>
          waiting.link === link && this.waiting.get(waiting.id) === waiting;
        waiting.link = link;
        const before = waiting.isSent ? { terms } : undefined;
        terms = link.ask(
          name,
          body,
          {
            answered: (answer, notes) => {
              if (!isCurrent()) return;
              this.waiting.delete(waiting);
              outcome.answered(answer, notes);
            },
            refused: (error, notes) => {
              // Without notes the link has ended, or the core leads no more: it is sent again.
              if (!isCurrent() || notes === undefined) return;
              if (waiting.isCommand && isStopping(error)) {
                // The core that leads next answers.
                waiting.link = undefined;
                return;
              }
              this.waiting.delete(waiting);
              outcome.refused(error, notes);
            },
          },
          before,
        );
        waiting.isSent = true;
      },
      refuse: (error) => {
        this.waiting.delete(waiting);
        outcome.refused(error, undefined);
      },
    };
    // Refused by the link, as when its window is full: it was never sent.
    if (this.leading !== undefined) waiting.sendOver(this.leading);
    this.waiting.add(waiting);
  }

  /** To the core that leads; no-op without one, which receives all of it when it is found. */
  notify<N extends EdgeNotice>(name: N, body: NoticeBodies[N]): void {
    this.leading?.notify(name, body);
  }

  /** Notices of the core that leads. */
  on<N extends CoreNotice>(handlers: NoticeHandlers<N>): void {
    this.handlers = { ...this.handlers, ...handlers };
    for (const link of this.links.keys()) this.listen(link);
  }

  onLead(events: LeadEvents): void {
    this.leads.add(events);
  }

  /** Links to the core that leads anew: what is known of its state is wrong. */
  drop(reason: string): void {
    this.leading?.close(reason);
  }

  /** Ends all links; requests in flight are refused. */
  close(reason = "the edge stops"): void {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.checks);
    this.leading = undefined;
    for (const waiting of this.waiting.all()) waiting.refuse(new ApiError("stopped", {}));
    for (const link of this.links.keys()) link.close(reason);
    this.onClosed(new Error(reason));
  }

  private async keepLinked(core: RoutedCore): Promise<void> {
    let pauseMs = CONNECT_AGAIN_MS;
    while (!this.isClosed) {
      try {
        const reason = await this.linked(core);
        pauseMs = CONNECT_AGAIN_MS;
        this.say(core.name, reason);
      } catch (error) {
        this.say(core.name, error instanceof Error ? error : new Error(String(error)));
      }
      if (this.isClosed) return;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
    }
  }

  /** Resolves with the reason when the link has ended. */
  private async linked(core: RoutedCore): Promise<Error> {
    const connect = await core.connect();
    const link = new EdgeLink(connect, this.clock);
    if (this.isClosed) link.close();
    link.onRole = () => this.choose();
    // Before its first frame: the core may send notices immediately.
    this.listen(link);
    try {
      await link.ready;
      this.lostCores.delete(core.name);
      this.links.set(link, core.name);
      // Those that were given meanwhile.
      this.listen(link);
      this.choose();
      return await link.closed;
    } finally {
      this.links.delete(link);
      this.choose();
    }
  }

  private listen(link: EdgeLink): void {
    const ofLeader = Object.entries(this.handlers).map(([name, handle]) => [
      name,
      (body: never) => {
        if (link === this.leading) handle(body);
      },
    ]);
    link.on(Object.fromEntries(ofLeader));
  }

  /** Of the cores that say that they lead, that of the highest epoch, if no core knows of a higher one. */
  private choose(): void {
    for (const { epoch } of this.links.keys()) this.epoch = Math.max(this.epoch, epoch);
    const found = [...this.links.keys()].find(
      (link) => link.isLeading && link.epoch === this.epoch,
    );
    if (found === this.leading || this.isClosed) return;
    const before = this.leading;
    this.shown = this.position;
    this.wasReplicated = this.isReplicated;
    this.leading = found;
    if (before !== undefined) this.tellLost();
    if (found === undefined) return;
    this.events.switched(this.links.get(found) ?? "");
    for (const { begun } of this.leads) begun();
    this.onReady();
    for (const waiting of this.waiting.all()) this.send(waiting, found);
  }

  private tellLost(): void {
    for (const { lost } of this.leads) lost();
    for (const waiting of this.waiting.all()) {
      if (waiting.isSent && waiting.name === OF_A_LINK) waiting.refuse(new ApiError("stopped", {}));
    }
  }

  private send(waiting: Waiting, link: EdgeLink): void {
    try {
      waiting.sendOver(link);
    } catch (error) {
      const isUnsure = waiting.isSent && waiting.isCommand;
      const refusal = error instanceof Error ? error : new Error(String(error));
      waiting.refuse(isUnsure ? new ApiError("outcome_unknown", {}) : refusal);
    }
  }

  private check(): void {
    // Cores that do not lead learn of epochs, too.
    this.choose();
    const nowMs = this.nowMs();
    for (const waiting of this.waiting.all()) {
      const { isSent, askedAtMs } = waiting;
      if (nowMs - askedAtMs < (isSent && waiting.isCommand ? UNANSWERED_MS : UNSENT_MS)) continue;
      if (waiting.isCommand) {
        waiting.refuse(new ApiError(isSent ? "outcome_unknown" : "not_executed", {}));
      } else if (this.leading === undefined) {
        waiting.refuse(this.lagging());
      }
    }
  }

  private lagging(): ApiError {
    const details = { retryAfterMs: 1_000 };
    return new ApiError("lagging", { position: this.position }, { details });
  }

  private say(core: string, reason: Error): void {
    if (this.lostCores.has(core) || this.isClosed) return;
    this.lostCores.add(core);
    this.events.lost(core, reason);
  }
}
