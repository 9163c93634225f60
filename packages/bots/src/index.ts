/** The bots of a testnet: a crowd in this thread, or in one of its own. */

export { type BotLog, type BotSettings, type BotVenue, DEFAULT_BOTS } from "./bot-settings.js";
export { Crowd } from "./crowd.js";
export { BotsThread } from "./thread/bots-thread.js";
export { botWallet } from "./wallets.js";
