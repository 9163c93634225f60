/** What an edge needs of cores: the one link of a venue in one process, or a router of several. */

import type {
  AnswerBodies,
  CoreNotice,
  EdgeNotice,
  Notes,
  NoticeBodies,
  NoticeHandlers,
  RequestBodies,
  RequestName,
} from "./frames.js";

/** Called with what the answer or the refusal says besides itself, before the promise settles. */
export type OnNotes = (notes: Notes) => void;

/** What becomes of a request: one of the two is called once, never within the call that asks. */
export interface CoreAnswer<N extends RequestName> {
  answered(body: AnswerBodies[N], notes: Notes): void;
  /** Without notes if the link has ended, or the core leads no more: the request may have been executed. */
  refused(error: Error, notes: Notes | undefined): void;
}

export interface LeadEvents {
  /** No core leads, or another one will: streams have a gap, and who is connected is the log's to say. */
  lost(): void;
  /** A core leads, the first one included; called before it is asked anything. */
  begun(): void;
}

export interface CoreAccess {
  /** The highest lead of the log that a core has named. */
  readonly epoch: number;
  /** The last position that a core has shown. */
  readonly position: number;
  /** Whether other cores write to the log, so that the one that is asked may be behind what they answered. */
  readonly isReplicated: boolean;
  /** Requests without an answer. */
  readonly inFlight: number;
  /** Resolves with the reason once nothing more can be asked. */
  readonly closed: Promise<Error>;
  request<N extends RequestName>(
    name: N,
    body: RequestBodies[N],
    onNotes?: OnNotes,
  ): Promise<AnswerBodies[N]>;
  ask<N extends RequestName>(name: N, body: RequestBodies[N], outcome: CoreAnswer<N>): void;
  notify<N extends EdgeNotice>(name: N, body: NoticeBodies[N]): void;
  on<N extends CoreNotice>(handlers: NoticeHandlers<N>): void;
  /** To be given before the first core leads. */
  onLead(events: LeadEvents): void;
  /** Begins again with the core: what it has sent cannot be true. */
  drop(reason: string): void;
}
