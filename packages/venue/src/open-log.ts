/** The log of a venue, and what writes it: the journal itself, or the replicated log whose mirror it is. */
import type { Command } from "@perpgate/engine";
import type { CoreLog, CoreLogHooks, FileJournal, Mirror } from "@perpgate/journal";
import { LeadSequencer } from "./lead-sequencer.js";
import { type Machine, REAL_MACHINE, WRITER_ID_BYTES } from "./machine.js";
import { JournalMirror } from "./mirror.js";
import { dataFolder } from "./recovery/data-folder.js";
import type { Recovered } from "./recovery/recover.js";
import type { ReplicaState } from "./recovery/replica-state.js";
import {
  READABLE_VERSIONS,
  Sequencer,
  type SequencerHooks,
  type WriterIdentity,
} from "./sequencer.js";
import type { Submissions } from "./submissions.js";
import { beginAlone, refuseUnbegun } from "./venue-beginning.js";
import type { VenueOptions } from "./venue-options.js";

export interface OpenedLog {
  readonly sequencer: Submissions;
  /** Present if cores lead by turns: which run leads, and how it is changed. */
  readonly lead?: LeadSequencer;
  /** To and from the venue's other cores; undefined if the log has none. */
  readonly others?: Pick<CoreLog, "announce" | "onAnnouncement" | "isClockShared">;
  /** Applies the log to its end. */
  start(): Promise<void>;
  /** After that: what a venue appends before it serves. */
  begin(stampMs: number): Promise<void>;
  close(): Promise<void>;
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
  const { openCoreLog } = parts.options;
  return openCoreLog === undefined ? openAlone(parts) : openOfCore(parts, openCoreLog);
}

function openAlone({ options, journal, recovered, identity, hooks }: LogParts): OpenedLog {
  const { replica, state, end } = recovered;
  const sequencer = new Sequencer(journal, replica, identity, hooks, machineOf(options));
  return {
    sequencer,
    start: () => sequencer.start(end),
    begin: (stampMs) => beginAlone(options, journal, state, sequencer, stampMs),
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
      ...replicaHooks(parts),
      leader: () => lead.leader(),
      claim: () => lead.claim(),
      isReady: () => lead.isReady,
      edges: () => lead.edges(),
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

function replicaHooks({
  recovered,
}: LogParts): Pick<CoreLogHooks, "lastBlock" | "blockHash" | "room"> {
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
