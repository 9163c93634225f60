/**
 * Preloaded into the venue of a soak, which knows nothing of it: asked over IPC, answers how much
 * heap is in use. It collects no garbage, so that the latencies of the soak stay those of the venue.
 */
process.on("message", () => {
  process.send?.(process.memoryUsage().heapUsed);
});
process.channel?.unref();
