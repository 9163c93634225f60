/**
 * Preloaded into the gateway under test: reports its heap over IPC, in the form of `serve`. It imports
 * nothing, so that it adds next to nothing to what it measures.
 */
export interface MemoryProbe {
  heapBytes(): number;
}

process.on("message", ({ id }: { id: number }) => {
  process.send?.({ id, value: process.memoryUsage().heapUsed });
});
// The channel alone must not keep the gateway running.
process.channel?.unref();
