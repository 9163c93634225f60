/** Metrics of receipts, of the transparency log's checkpoints and of its witnesses. */

import { gauged, gaugedBy, summed, summedBy } from "@perpgate/gateway/metrics";
import type { Promises } from "@perpgate/venue";
import type { Registry } from "prom-client";

export function measurePromises(registry: Registry, promises: Promises): void {
  const { receipts, log } = promises;
  summed(
    registry,
    "perpgate_receipts_total",
    "Receipts asked for since the start, those of repeated acknowledgements included.",
    () => receipts?.asked ?? 0,
  );
  gauged(
    registry,
    "perpgate_receipts_not_kept",
    "ALARM: acknowledgements in another block than their receipt says.",
    () => promises.notKept,
  );
  measureCheckpoints(registry, promises);
  gauged(
    registry,
    "perpgate_tlog_conflict",
    "ALARM: 1 if this log contradicts its last checkpoint or a witness; nothing is signed then.",
    () => (log.conflict === null ? 0 : 1),
  );
  measureWitnesses(registry, promises);
}

/** By stage: signed and durable, published, and published with a cosignature. */
function measureCheckpoints(registry: Registry, { log, tree }: Promises): void {
  const stages = () => Object.entries(log.stages);
  gauged(registry, "perpgate_tlog_blocks", "Sealed blocks, which checkpoints cover.", () => {
    return tree.size;
  });
  summedBy(
    registry,
    "perpgate_tlog_checkpoints_total",
    "Checkpoints that reached a stage since the start: signed, published, cosigned.",
    "stage",
    () => stages().map(([stage, { count }]) => [stage, count]),
  );
  const perStage = (name: string, help: string, read: (of: StageFigures) => number) =>
    gaugedBy(registry, name, help, ["stage"], () =>
      stages().map(([stage, figures]) => [{ stage }, read(figures)]),
    );
  perStage(
    "perpgate_tlog_checkpoint_timestamp_seconds",
    "When the last checkpoint reached the stage, Unix seconds; 0 before the first.",
    ({ lastAt }) => (lastAt ?? 0) / 1_000,
  );
  perStage(
    "perpgate_tlog_checkpoint_blocks",
    "Blocks that the last checkpoint of the stage covers.",
    ({ size }) => size,
  );
  gauged(
    registry,
    "perpgate_tlog_cosigned_seconds",
    "Time from the last published checkpoint's signature to its last cosignature; 0 without one.",
    () => (log.published?.cosignedMs ?? 0) / 1_000,
  );
}

type StageFigures = Promises["log"]["stages"]["signed"];

function measureWitnesses(registry: Registry, { log }: Promises): void {
  gauged(registry, "perpgate_tlog_witnesses", "Configured witnesses.", () => log.witnesses.length);
  const perWitness = (name: string, help: string, read: (of: WitnessFigures) => number) =>
    summedBy(registry, name, help, "witness", () =>
      log.witnesses.map((witness) => [witness.name, read(witness)]),
    );
  perWitness(
    "perpgate_witness_cosignatures_total",
    "Checkpoints that the witness cosigned since the start.",
    ({ cosigned }) => cosigned,
  );
  perWitness(
    "perpgate_witness_failures_total",
    "Checkpoints that the witness was asked for and did not cosign.",
    ({ failed }) => failed,
  );
  gaugedBy(
    registry,
    "perpgate_witness_last_cosigned_timestamp_seconds",
    "When the witness last cosigned, Unix seconds; 0 if it has not since the start.",
    ["witness"],
    () =>
      log.witnesses.map(({ name, lastCosignedAt }) => [
        { witness: name },
        (lastCosignedAt ?? 0) / 1_000,
      ]),
  );
}

type WitnessFigures = Promises["log"]["witnesses"][number];
