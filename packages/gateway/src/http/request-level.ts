/**
 * The level at which an answered request is logged. What went well is for `debug`: a living testnet
 * answers its own bots several times a second, and their lines would bury the banner and every line
 * that matters. How many there were, and how fast, is in the metrics.
 */

export function requestLevel(status: number): "debug" | "info" {
  return status < 400 ? "debug" : "info";
}
