import { useTerminal } from "../terminal.js";
import { useStore } from "./store.js";

/** Whether actions may be sent. */
export function useIsLive(): boolean {
  return useStore(useTerminal().line.state, (state) => state === "live");
}
