/**
 * Long forms of what the suite runs short: `npm test -- --long NAME`. A variable that is set in the
 * environment wins, so a count can be chosen. `names` limits a form to tests of that name.
 */

export const LONG_FORMS = {
  cluster: {
    about: "every fault of a cluster of real processes 20 times, 1,000 failovers",
    files: ["packages/cluster", "apps/perpgate/src/cluster"],
    env: {
      REQUIRE_NATS_SERVER: "1",
      PERPGATE_CLUSTER_FAULTS: "20",
      PERPGATE_CLUSTER_RUNS: "20",
      PERPGATE_FAILOVER_RUNS: "1000",
    },
  },
  collusion: {
    about:
      "10,000 worlds in which rings of accounts try to gain from the fund, and from honest accounts",
    files: [
      "packages/engine/src/testing/collusion/gaps",
      "packages/engine/src/testing/collusion/bystanders",
    ],
    env: { PERPGATE_GAPS: "10000", PERPGATE_SCHEMES: "2000" },
  },
  crash: {
    about: "1,000 kills of a venue that writes, 50 ends of its history's thread",
    files: ["packages/venue/src/crash", "packages/venue/src/history/retention.system"],
    env: { PERPGATE_KILLS: "1000", PERPGATE_THREAD_ENDS: "50" },
  },
  engine: {
    about: "properties of the engine over longer flows",
    files: ["packages/engine"],
    env: {
      PERPGATE_TINY_TRADES: "1000000",
      PERPGATE_RINGS: "1500",
      PERPGATE_FAULTS: "1700",
      PERPGATE_WATCHES: "150000",
      PERPGATE_REPLAY: "5000",
      PERPGATE_SNAPSHOT_BITS: "3000",
      PERPGATE_TIGHT_SEEDS: "5",
    },
  },
  faults: {
    about: "100 disk faults of each kind under load",
    files: ["apps/perpgate/src/serve/exit"],
    env: { PERPGATE_FAULT_RUNS: "100" },
  },
  fence: {
    about: "100,000 clusters of cores on one fenced stream, a third as many with restored servers",
    files: [
      "packages/cluster/src/simulation",
      "packages/cluster/src/fence.system",
      "apps/perpgate/src/cluster/cores.system",
      "apps/perpgate/src/cluster/led.system",
    ],
    env: {
      PERPGATE_FENCE_SEEDS: "100000",
      PERPGATE_FENCE_FAULTS: "20",
      PERPGATE_CORE_FAULTS: "20",
      PERPGATE_LED_FAULTS: "20",
    },
  },
  flows: {
    about: "engine against reference model, and history against replay, over 25 long flows",
    files: ["packages/engine/src/testing/agreement", "packages/venue/src/history/history"],
    env: {
      PERPGATE_FLOW_SEEDS: "25",
      PERPGATE_FLOW_EACH: "12000",
      PERPGATE_FLOW_COMMANDS: "100000",
      PERPGATE_HISTORY_COMMANDS: "2000",
    },
  },
  edges: {
    about: "20 edges with 1,000 sockets killed, 20 stopped",
    files: ["apps/perpgate/src/serve/processes"],
    names: "an edge with sockets",
    env: { PERPGATE_EDGE_RUNS: "20", PERPGATE_EDGE_SOCKETS: "1000" },
  },
  page: {
    about: "the trading page open for 60 minutes: first paint, frames and memory",
    files: ["apps/terminal/src/page-venues"],
    names: "frames:",
    env: { PERPGATE_PAGE_MINUTES: "60" },
  },
  payouts: {
    about: "100 rounds of deposits, trades and withdrawals over two chains, with a kill in each",
    files: ["apps/perpgate/src/operator/withdrawals"],
    env: { PERPGATE_PAYOUT_ROUNDS: "100" },
  },
  "random-page": {
    about:
      "the trading page used at random for 10 minutes over a bad network, compared with the interface",
    files: ["apps/terminal/src/page-venues"],
    names: "used at random",
    env: { PERPGATE_RANDOM_PAGE_MINUTES: "10" },
  },
  sandbox: {
    about: "1,000 seeds of the sandbox twice, compared with the hashes of another architecture",
    files: ["packages/sandbox/src/seeds"],
    env: { PERPGATE_SANDBOX_SEEDS: "1000" },
  },
  simulator: {
    about: "50,000 seeds of one venue, damage to every byte",
    files: ["packages/simulator"],
    env: {
      PERPGATE_SIMULATOR_SEEDS: "50000",
      PERPGATE_LIVES_SEEDS: "100",
      PERPGATE_LIVES: "6",
      PERPGATE_EVERY_BYTE: "1",
    },
  },
  stops: {
    about: "an exit among a million reached stops",
    files: ["packages/engine/src/testing/found/crowd-of-stops"],
    env: { PERPGATE_STOPS: "1000000", NODE_OPTIONS: "--max-old-space-size=6000" },
  },
  work: {
    about: "200 searches for the commands and ticks that take the most work units",
    files: ["packages/engine/src/testing/work"],
    env: { PERPGATE_WORK_SEEDS: "200" },
  },
};
