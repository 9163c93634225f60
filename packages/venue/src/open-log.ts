/** The log of a venue, and what writes it: the journal itself, or the replicated log whose mirror it is. */
import type { Command } from "@perpgate/engine";
import { writerOf } from "@perpgate/engine/reading";
import type { FileJournal } from "@perpgate/journal";
import { LeadSequencer } from "./lead-sequencer.js";
import { type Machine, REAL_MACHINE, WRITER_ID_BYTES } from "./machine.js";
import { dataFolder } from "./recovery/data-folder.js";
import type { Recovered } from "./recovery/recover.js";
import type { ReplicaState } from "./recovery/replica-state.js";
import { JournalMirror, type Mirror, ReplicatedLog, type StreamHooks } from "./replicated-log.js";
import {
  READABLE_VERSIONS,
  type SequencedLog,
  Sequencer,
  type SequencerHooks,
  type WriterIdentity,
} from "./sequencer.js";
import type { Submissions } from "./submissions.js";
import { beginAlone, beginAmongOthers, refuseUnbegun } from "./venue-beginning.js";
import type { VenueOptions } from "./venue-options.js";

export interface OpenedLog {
  readonly sequencer: Submissions;
  /** Present if cores lead by turns: which run leads, and how it is changed. */
  readonly lead?: LeadSequencer;
  /** To and from the venue's other gateways; undefined if the log has none. */
  readonly others?: Others;
  /** Applies the log to its end. */
  start(): Promise<void>;
  /** After that: what a venue appends before it serves. */
  begin(stampMs: number): Promise<void>;
  close(): Promise<void>;
}

interface Others {
  announce(text: string): void;
  onAnnouncement: (text: string) => void;
  /** Whether one of them was heard lately that has the same wall clock. */
  readonly isClockShared?: boolean;
}

interface LogParts {
  readonly options: VenueOptions;
  readonly journal: FileJournal;
  readonly recovered: Recovered;
  readonly identity: () => WriterIdentity;
  readonly hooks: LogPartsHooks;
}

interface LogPartsHooks extends SequencerHooks {
  onLead(): void;
  onLeadLost(): void;
  atPublish(): readonly Command[];
}

export async function openLog(parts: LogParts): Promise<OpenedLog> {
  const { options, journal } = parts;
  const { openStream, openCoreLog } = options;
  if (openCoreLog !== undefined) return openOfCore(parts, openCoreLog);
  if (openStream === undefined) return openAlone(parts, journal);
  const stream = await openStream(mirrorOf(parts), {
    ...streamHooks(parts),
    isLive: (writer) => writerOf(parts.recovered.state.engine.state, writer) !== undefined,
  });
  const log = new ReplicatedLog(stream, journal);
  const sequencer = sequencerOf(parts, log);
  return {
    sequencer,
    others: stream,
    start: () => sequencer.start(parts.recovered.end),
    begin: () => beginAmongOthers(options, parts.recovered.state, sequencer),
    close: () => log.close(),
  };
}

function openAlone(parts: LogParts, journal: FileJournal): OpenedLog {
  const { options, recovered } = parts;
  const sequencer = sequencerOf(parts, journal);
  return {
    sequencer,
    start: () => sequencer.start(recovered.end),
    begin: (stampMs) => beginAlone(options, journal, recovered.state, sequencer, stampMs),
    close: () => journal.close(),
  };
}

async function openOfCore(
  parts: LogParts,
  open: NonNullable<VenueOptions["openCoreLog"]>,
): Promise<OpenedLog> {
  const { options, journal, recovered, identity, hooks } = parts;
  const machine = machineOf(options);
  const run = { run: machine.newWriter(), versions: READABLE_VERSIONS };
  const lead = new LeadSequencer(recovered.replica, identity, run, hooks, machine);
  const log = await open(
    mirrorOf(parts),
    {
      ...streamHooks(parts),
      leader: () => lead.leader(),
      claim: () => lead.claim(),
      mayPropose: () => lead.mayPropose(),
    },
    run,
  );
  const close = async (): Promise<void> => {
    await log.close();
    await journal.close();
  };
  void journal.stopped.then((error) => lead.fail(error));
  return {
    sequencer: lead,
    lead,
    others: log,
    start: () => lead.start(log, close),
    begin: async () => refuseUnbegun(options, recovered.state),
    close,
  };
}

function sequencerOf(
  { options, recovered, identity, hooks }: LogParts,
  log: SequencedLog,
): Sequencer {
  return new Sequencer(log, recovered.replica, identity, hooks, machineOf(options));
}

function machineOf({ random }: VenueOptions): Machine {
  if (random === undefined) return REAL_MACHINE;
  return { ...REAL_MACHINE, newWriter: () => Buffer.from(random(WRITER_ID_BYTES)).toString("hex") };
}

function mirrorOf({ options, journal, recovered }: LogParts): Mirror {
  const { history } = recovered;
  return new JournalMirror(journal, dataFolder(options.directory).journal, (messages) => {
    history.onLogOnDisk(messages);
  });
}

function streamHooks({ recovered }: LogParts): Omit<StreamHooks, "isLive"> {
  const { state, history } = recovered;
  const lastBlock = () => lastBlockOf(state);
  return {
    lastBlock,
    blockHash(number) {
      const last = lastBlock();
      if (number === last.number) return last.hash;
      // Of a block that is not in the store yet nothing is known.
      return history.isRebuilding ? undefined : history.block(number)?.hash;
    },
    room: () => history.room(),
  };
}

function lastBlockOf({ blocks }: ReplicaState): {
  readonly number: number;
  readonly hash: Uint8Array;
} {
  const { number, parentHash } = blocks.open();
  return { number: number - 1, hash: parentHash };
}
