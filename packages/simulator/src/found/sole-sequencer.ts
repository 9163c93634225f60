/** A sequencer that has begun a new log and joined it as its only writer. */
import { GENESIS_WRITER } from "@perpgate/engine";
import { type FileJournal, LOG_START } from "@perpgate/journal";
import { encodeRecord, NO_EVIDENCE, type Replica, Sequencer } from "@perpgate/venue";
import { GENESIS, START_MS } from "../listing.js";

export async function soleSequencer(
  journal: FileJournal,
  replica: Replica,
  failures: Error[],
): Promise<Sequencer> {
  const identity = { name: "venue", receiptKey: "", certificate: "" };
  const sequencer = new Sequencer(journal, replica, () => identity, {
    onFailure: (error) => failures.push(error),
    atPublish: () => [],
    nowMs: () => START_MS,
  });
  await sequencer.start(LOG_START);
  const genesis = encodeRecord(GENESIS, NO_EVIDENCE);
  await journal.append({ writer: GENESIS_WRITER, counter: 0 }, [genesis]);
  await sequencer.join();
  return sequencer;
}
