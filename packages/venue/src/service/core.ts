/** The core's end of a link to an edge: what edges ask for, answered from one venue. */

import { EVENT } from "@perpgate/engine";
import {
  CoreLink,
  type LinkTransport,
  type ReadinessProbe,
  type Receiver,
  type RequestHandlers,
} from "@perpgate/link";
import type { ClusterStatus } from "@perpgate/protocol";
import type { ArchiveQuery } from "../archive/archived-rows.js";
import { eventWords, firstOwnEvent, SESSION_CLOSED } from "../event-fields.js";
import type { Applied } from "../replica.js";
import type { Venue } from "../venue.js";
import { AccountCalls } from "./account-calls.js";
import { AccountLimit, type AccountLimitSettings } from "./account-limits.js";
import { accountReads } from "./account-reads.js";
import type { Attestation } from "./attestation.js";
import { batches } from "./batches.js";
import { cancels } from "./cancels.js";
import { deposits } from "./deposits.js";
import { logFiles } from "./log-files.js";
import { marginChanges } from "./margin-changes.js";
import { orders } from "./orders.js";
import { PastLists } from "./past-lists.js";
import { EdgePresence, type PresenceRequests } from "./presence.js";
import { publicReads } from "./public-reads.js";
import { reserves } from "./reserves.js";
import { sessionCalls } from "./sessions.js";
import { signIns } from "./sign-ins.js";
import { EdgeStreams, type StreamRequests } from "./streams/edge-streams.js";
import { withdrawals } from "./withdrawals.js";

/** Requests of one edge in flight. Its budgets and limits admit far fewer. */
const WINDOW = 100_000;

/** Of the venue's time, between two notices of it. */
const CLOCK_MS = 1_000;

export interface CoreOptions {
  readonly venue: Venue;
  readonly limits: AccountLimitSettings;
  /** Undefined under the `dev` attestor. */
  readonly attestation?: Attestation | undefined;
  /** How this core sees the replicated log, if there is one. */
  readonly clusterStatus?: (() => ClusterStatus | undefined) | undefined;
  /** What must hold for the core to be ready; by default nothing but that it runs. */
  readonly readiness?: readonly ReadinessProbe[] | undefined;
  /** Reads the archive, where lists go on that the store does not keep; undefined: there is none. */
  readonly archive?: ArchiveQuery | undefined;
  /** The archive could not be read, or is behind: lists end where the store's window does. */
  readonly onArchiveLost?: ((error: unknown) => void) | undefined;
  /** A request failed with what is no refusal: a fault of this process. */
  readonly onFault: (error: unknown, request: string) => void;
}

export class Core implements SessionSink {
  private readonly handlers: Omit<RequestHandlers, keyof (StreamRequests & PresenceRequests)>;
  private readonly links = new Set<CoreLink>();
  private readonly streams: EdgeStreams;
  private readonly presence: EdgePresence;
  private toldMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: CoreOptions) {
    const { venue, clusterStatus, limits, readiness, archive } = options;
    const archived = archive === undefined ? undefined : venue.views.archived(archive);
    const onLost = options.onArchiveLost ?? (() => undefined);
    const past = new PastLists(venue.views, archived, onLost);
    const { accountReadsPerSecond, accountReadsBurst, depositsPerMinute, unseenDeposits } = limits;
    const { ordersPerSecond, ordersBurst, cancelsPerSecond, cancelsBurst } = limits;
    const reads = new AccountLimit("account-reads", accountReadsPerSecond, accountReadsBurst);
    const canceling = new AccountLimit("cancels", cancelsPerSecond, cancelsBurst);
    const ordering = new AccountLimit("orders", ordersPerSecond, ordersBurst);
    const commands = new AccountCalls(venue, canceling);
    const signed = { venue, orders: ordering, cancels: canceling };
    const onFault = (error: unknown): void => options.onFault(error, "streams");
    this.presence = new EdgePresence(venue, onFault);
    this.streams = new EdgeStreams(venue, onFault);
    this.handlers = {
      ...publicReads(venue, past, clusterStatus, readiness),
      ...logFiles(venue),
      ...accountReads(venue, new AccountCalls(venue, reads), past),
      ...sessionCalls(venue, commands),
      ...signIns(venue),
      ...orders(signed),
      ...batches(signed),
      ...marginChanges(signed),
      ...withdrawals(signed),
      ...cancels(venue, commands, canceling),
      ...reserves(venue, options.attestation),
      ...deposits({
        venue,
        attestation: options.attestation,
        limit: new AccountLimit("deposits", depositsPerMinute / 60, depositsPerMinute),
        maxUnseen: unseenDeposits,
      }),
    };
    venue.edges = () => [...this.links].filter(({ isGreeted }) => isGreeted).length;
    venue.observe({
      onCommand: (applied) => {
        if (applied.command.kind === "CoreLeads") this.tellRoles();
        emitSessionChanges(applied, this);
        this.tellTime(applied.timeMs);
      },
    });
  }

  onSessionChanged(session: number, publicKey: Uint8Array): void {
    for (const link of this.links) link.notify("sessionChanged", { session, publicKey });
  }

  onSessionEnded(session: number): void {
    for (const link of this.links) link.notify("sessionEnded", { session });
  }

  /** Before what a lost lead had in flight is given up: its edges send that to the core that leads. */
  private tellRoles(): void {
    for (const link of this.links) link.tellRole();
  }

  private tellTime(timeMs: number): void {
    if (timeMs - this.toldMs < CLOCK_MS) return;
    this.toldMs = timeMs;
    for (const link of this.links) link.notify("clock", { timeMs });
  }

  connect(transport: (receiver: Receiver) => LinkTransport): CoreLink {
    const { venue, onFault } = this.options;
    const link: CoreLink = new CoreLink(transport, {
      handlers: {
        ...this.handlers,
        ...this.streams.requestsOf(() => link),
        ...this.presence.requestsOf(() => link),
      },
      notices: this.streams.noticesOf(() => link),
      window: WINDOW,
      isReplicated: venue.isReplicated,
      position: () => venue.seq,
      timeMs: () => venue.views.timeMs,
      epoch: () => venue.epoch,
      isLeading: () => venue.isLeading,
      whenSettled: (callback) => venue.whenSettled(callback),
      onFault,
    });
    this.links.add(link);
    void link.closed.then(() => {
      this.links.delete(link);
      this.streams.leave(link);
      this.presence.leave(link, link.finished);
    });
    return link;
  }

  /** Stops sending streams to the edges; the log is not asked again for what it has not taken. */
  stop(): void {
    this.streams.stop();
    this.presence.stop();
  }

  /** Resolves once every end of a session's connections is in the log, or given up after `stop`. */
  settled(): Promise<void> {
    return this.presence.settled();
  }
}

/** Tells edges of sessions that were tied to another key, or ended: they keep what they know of one. */
interface SessionSink {
  onSessionChanged(session: number, publicKey: Uint8Array): void;
  onSessionEnded(session: number): void;
}

/** Called for every command; only these can change a session. */
function emitSessionChanges({ command, evidence, events }: Applied, sink: SessionSink): void {
  const { words, length } = events;
  switch (command.kind) {
    case "RotateSession":
      if (words[firstOwnEvent(events)] === EVENT.SessionRotated) {
        sink.onSessionChanged(command.session, Uint8Array.from(evidence.publicKey));
      }
      return;
    case "OpenSession":
    case "CloseSession":
    case "Tick":
      for (let at = 0; at < length; at += eventWords(words[at]!)) {
        if (words[at] === EVENT.SessionClosed) {
          sink.onSessionEnded(words[at + SESSION_CLOSED.session]!);
        }
      }
  }
}
