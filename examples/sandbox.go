// A venue for tests, from Go's standard library alone. Copy Sandbox, Trader and call into a test package:
//
//	func TestStopLoss(t *testing.T) {
//		venue, err := StartSandbox(7)
//		if err != nil {
//			t.Fatal(err)
//		}
//		t.Cleanup(venue.Stop)
//	}
//
// Run as a program it shows one test: a stop loss in a crash. The arguments are the command that starts
// perpgate, by default "perpgate":
//
//	go run examples/sandbox.go node apps/perpgate/bin/perpgate.js
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// Values is a JSON object.
type Values map[string]any

// Sandbox is a running venue and the address of its control API.
type Sandbox struct {
	URL     string `json:"url"`
	Control string `json:"control"`
	process *exec.Cmd
}

// StartSandbox starts a venue whose time stands still until the control API moves it.
func StartSandbox(seed int, command ...string) (*Sandbox, error) {
	if len(command) == 0 {
		command = []string{"perpgate"}
	}
	words := append(command[1:len(command):len(command)], "sandbox", "--manual", "--json",
		"--seed", strconv.Itoa(seed), "--port", "0", "--control", "0")
	process := exec.Command(command[0], words...)
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	sandbox := &Sandbox{process: process}
	line, err := bufio.NewReader(output).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, sandbox)
	}
	if err != nil {
		sandbox.Stop()
		return nil, fmt.Errorf("the sandbox did not start: %w", err)
	}
	return sandbox, nil
}

// Stop ends the venue; everything of it is gone.
func (s *Sandbox) Stop() {
	_ = s.process.Process.Signal(syscall.SIGTERM)
	_ = s.process.Wait()
}

// Post is one call of the control API, such as "/advance", "/crash", "/save".
func (s *Sandbox) Post(path string, body Values, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return call("POST", s.Control+path, text, nil, answer)
}

// Trader is an account with dollars, signed in.
type Trader struct {
	ID      string `json:"id"`
	Token   string `json:"token"`
	sandbox *Sandbox
	nonce   int
}

// NewTrader makes one.
func (s *Sandbox) NewTrader(funds float64) (*Trader, error) {
	trader := &Trader{sandbox: s}
	return trader, s.Post("/traders", Values{"funds": funds}, trader)
}

// Order places an order; the control API signs its bytes.
func (t *Trader) Order(order Values, answer any) error {
	t.nonce++
	order["nonce"] = t.nonce
	body, err := json.Marshal(order)
	if err != nil {
		return err
	}
	var signed struct{ Signature string }
	if err := t.sandbox.Post("/sign", Values{"trader": t.ID, "body": string(body)}, &signed); err != nil {
		return err
	}
	headers := map[string]string{"Authorization": "Bearer " + t.Token, "X-Service-Sig": signed.Signature}
	return call("POST", t.sandbox.URL+"/v1/orders", body, headers, answer)
}

// Get reads of the account, such as "/v1/positions".
func (t *Trader) Get(path string, answer any) error {
	return call("GET", t.sandbox.URL+path, nil, map[string]string{"Authorization": "Bearer " + t.Token}, answer)
}

// call sends and reads JSON; a refusal is an error with what the venue says.
func call(method, url string, body []byte, headers map[string]string, answer any) error {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if method == "POST" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, url, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

func stopLossInACrash(venue *Sandbox) error {
	trader, err := venue.NewTrader(5_000)
	if err != nil {
		return err
	}
	var ack struct{ Status string }
	err = trader.Order(Values{
		"symbol": "BTCUSD", "side": "long", "type": "market", "margin": 500, "leverage": 5,
		"stopLoss": Values{"price": 60_000},
	}, &ack)
	if err != nil {
		return err
	}
	if ack.Status != "filled" {
		return fmt.Errorf("the order is %s", ack.Status)
	}
	if err := venue.Post("/crash", Values{"symbol": "BTCUSD", "by": 0.1}, nil); err != nil {
		return err
	}
	if err := venue.Post("/advance", Values{"duration": "5s"}, nil); err != nil {
		return err
	}
	var positions []Values
	if err := trader.Get("/v1/positions", &positions); err != nil {
		return err
	}
	if len(positions) != 0 {
		return fmt.Errorf("the stop loss has not sold: %v", positions)
	}
	var fills []struct{ Price float64 }
	if err := trader.Get("/v1/fills", &fills); err != nil {
		return err
	}
	fmt.Printf("bought at %v, stopped at %v\n", fills[len(fills)-1].Price, fills[0].Price)
	return nil
}

func main() {
	venue, err := StartSandbox(7, os.Args[1:]...)
	if err == nil {
		err = stopLossInACrash(venue)
		venue.Stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
