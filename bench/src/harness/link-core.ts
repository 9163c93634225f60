/** The core's side of the bench of the link, a process. */
import { CoreLink, listenForEdges } from "@perpgate/link";
import { handlersWith, NO_NOTICES } from "@perpgate/link/testing";
import { serve } from "./child.js";
import { listenRaw, SAMPLES, type Sample } from "./link-exchange.js";

const answering = handlersWith({
  getOrder: () => SAMPLES.getOrder.answer,
  getDepositQueue: () => SAMPLES.getDepositQueue.answer,
});

const handlers = {
  listen: async (folder: string, sample: Sample): Promise<void> => {
    await listenForEdges(folder, (connectCore) => {
      new CoreLink(connectCore, {
        handlers: answering,
        notices: NO_NOTICES,
        window: 100_000,
        isReplicated: false,
        position: () => 2 ** 32,
        timeMs: () => 0,
        epoch: () => 0,
        isLeading: () => true,
        whenSettled: (callback) => callback(),
        onFault: (error) => {
          throw error;
        },
      });
    });
    await listenRaw(folder, sample);
  },
  processorMicros: (): number => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};
export type LinkCore = typeof handlers;

serve(handlers);
