/** The bots of a testnet: a crowd in the calling thread, or in a worker thread. */

export { type BotLog, type BotSettings, type BotVenue, DEFAULT_BOTS } from "./bot-settings.js";
export { Crowd } from "./crowd.js";
export { BotsThread } from "./thread/bots-thread.js";
export { botWallet } from "./wallets.js";
