/** The sandbox's own scenarios. Each is a text as a file would have it. */

export const SCENARIOS: Readonly<Record<string, string>> = {
  "quiet-hour": `
about An hour in which nothing happens: quotes, a few takers, funding at its end
0s   takers BTCUSD rate=1 notional=500
1h   end`,

  "flash-crash": `
about 15 % down in two seconds under a book that thins out, half of it back within a minute
0s   takers BTCUSD rate=2 notional=500
10s  liquidity BTCUSD levels=10 notional=5000 step=0.001
10s  takers BTCUSD rate=10 notional=5000 side=short
10s  price BTCUSD -15% in 2s
13s  takers BTCUSD rate=2 notional=500
15s  price BTCUSD +8% in 45s
60s  liquidity BTCUSD
2m   end`,

  "gap-through-stops": `
about The price is 12 % lower from one tick to the next, with no trade between
0s   takers BTCUSD rate=2 notional=500
20s  liquidity BTCUSD none
20s  price BTCUSD -12%
22s  liquidity BTCUSD notional=20000
1m   end`,

  "funding-squeeze": `
about Buyers pay a premium for hours, then the price rises by 20 % through the shorts
0s   liquidity BTCUSD premium=0.004
0s   takers BTCUSD rate=1 notional=2000 side=long
2h   price BTCUSD +20% in 10m
2h10m  liquidity BTCUSD
2h10m  takers BTCUSD rate=1 notional=1000
2h30m  end`,

  "thin-book": `
about A few small orders wide apart: every market order moves the price
0s   liquidity BTCUSD levels=3 notional=300 spread=0.004 step=0.004
0s   takers BTCUSD rate=1 notional=400
5m   end`,

  "stuck-index": `
about The index stops for a minute; what opens is refused, cancels and reductions go on
0s   takers BTCUSD rate=2 notional=500
20s  index BTCUSD stops
20s  price BTCUSD -3% in 60s
80s  index BTCUSD follows
2m   end`,

  "jumping-index": `
about The index jumps by 40 % and back, as a broken source does
0s   takers BTCUSD rate=2 notional=500
20s  price BTCUSD +40%
21s  price BTCUSD -28.6%
40s  price BTCUSD -40%
41s  price BTCUSD +66.6%
90s  end`,

  "halt-and-resume": `
about An operator halts the market, lets positions be reduced, and opens it again
0s   takers BTCUSD rate=2 notional=500
20s  market BTCUSD halt
40s  market BTCUSD reduceOnly
60s  price BTCUSD -4% in 5s
70s  market BTCUSD resume
2m   end`,

  "gateway-restarts": `
about The gateway is away three times, for up to twenty seconds in which the price falls
0s   takers BTCUSD rate=2 notional=500
15s  restart-gateway 2s
30s  price BTCUSD -6% in 20s
30s  restart-gateway 20s
70s  restart-gateway 1s
2m   end`,

  "rate-limits": `
about Bursts of orders that are refused with rate_limited, overloaded and lost answers
0s   takers BTCUSD rate=2 notional=500
10s  refuse rate_limited next=5
20s  refuse overloaded next=3
30s  lose-answers next=2
40s  refuse outcome_unknown next=1
50s  refuse rate_limited next=20
90s  end`,

  "slow-network": `
about Latency of 300 ms that varies, and sockets that are cut
0s   takers BTCUSD rate=2 notional=500
5s   latency ms=300 jitter=200
20s  drop-sockets
30s  price BTCUSD -3% in 10s
40s  drop-sockets
60s  latency none
90s  end`,

  "my-liquidation": `
about 40 % down within ten minutes, step by step: every long above 2× is liquidated
0s   takers BTCUSD rate=2 notional=1000 side=short
10s  price BTCUSD -10% in 30s
2m   price BTCUSD -12% in 30s
4m   price BTCUSD -12% in 30s
6m   price BTCUSD -14% in 30s
10m  end`,

  "my-deleveraging": `
about The shorts go bankrupt without a book: winning longs are deleveraged
0s   liquidity BTCUSD levels=20 notional=200000
0s   takers BTCUSD rate=10 notional=40000 side=long
30s  takers BTCUSD none
31s  liquidity BTCUSD none
32s  price BTCUSD +24%
33s  price BTCUSD +20%
1m   liquidity BTCUSD
2m   end`,

  "whole-open-interest": `
about dYdX, 10 October 2025: one side of the market is liquidated in one tick
0s   takers BTCUSD rate=20 notional=20000 side=long
40s  takers BTCUSD none
41s  liquidity BTCUSD none
42s  price BTCUSD -24%
50s  liquidity BTCUSD
2m   end`,

  "old-prices": `
about dYdX, 10 October 2025: a halt, and a restart before prices are back
0s   takers BTCUSD rate=2 notional=500
10s  price BTCUSD -8% in 2s
12s  market BTCUSD halt
12s  index BTCUSD stops
13s  price BTCUSD +7% in 5s
40s  market BTCUSD resume
60s  index BTCUSD follows
2m   end`,

  "pulled-wall": `
about POPCAT, 12 November 2025: a wall of bids is withdrawn under those who leaned on it
0s   liquidity BTCUSD levels=5 notional=2000000 step=0.001
0s   takers BTCUSD rate=5 notional=20000 side=long
60s  takers BTCUSD none
60s  liquidity BTCUSD levels=3 notional=1000 step=0.01
61s  price BTCUSD -20% in 10s
90s  liquidity BTCUSD
3m   end`,

  "pushed-mark": `
about XPL, 26 August 2025: a thin book is swept upwards, the index does not move
0s   liquidity BTCUSD levels=5 notional=500 step=0.008
10s  takers BTCUSD rate=10 notional=2000 side=long
2m   takers BTCUSD none
3m   liquidity BTCUSD
4m   end`,

  "restored-funding": `
about Paradex, 19 January 2026: the venue restarts after hours of funding, which all still have
0s   liquidity BTCUSD premium=0.004
0s   takers BTCUSD rate=1 notional=2000 side=long
2h   restart-venue
2h5m restart-venue
2h10m  end`,

  "endless-backstop": `
about JELLY, 26 March 2025: large shorts of a thin market are liquidated while the price goes on rising
0s   liquidity BTCUSD levels=20 notional=200000
0s   takers BTCUSD rate=10 notional=40000 side=short
40s  takers BTCUSD none
41s  liquidity BTCUSD levels=3 notional=1000 step=0.01
42s  price BTCUSD +18% in 5s
50s  liquidity BTCUSD none
51s  price BTCUSD +24%
60s  price BTCUSD +20% in 10s
90s  liquidity BTCUSD
2m   end`,

  "winners-deleveraged": `
about 10 October 2025: a fall of 35 % without a bid; what nobody can take is taken from the winners
0s   liquidity BTCUSD levels=20 notional=200000
0s   takers BTCUSD rate=10 notional=40000 side=long
30s  takers BTCUSD none
31s  liquidity BTCUSD none
32s  price BTCUSD -24%
34s  price BTCUSD -15%
50s  liquidity BTCUSD
2m   end`,

  "operator-burst": `
about Drift, 1 April 2026: commands of an operator one after the other; ten a minute are executed
0s   takers BTCUSD rate=2 notional=500
10s  market BTCUSD halt
11s  market BTCUSD resume
12s  market BTCUSD halt
13s  market BTCUSD resume
14s  market BTCUSD reduceOnly
15s  market BTCUSD resume
16s  market BTCUSD halt
17s  market BTCUSD reduceOnly
18s  market BTCUSD halt
19s  market BTCUSD resume
20s  market BTCUSD halt
21s  market BTCUSD reduceOnly
90s  end`,
};
