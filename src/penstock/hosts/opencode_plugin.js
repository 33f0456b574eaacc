// Behind each call of a tool in opencode: what is too large of its result is cut and kept whole by `penstock hook opencode`.
// Whatever fails, opencode goes on with its own result.
import { spawn } from "node:child_process"

const COMMAND = ["penstock", "hook", "opencode"]
const MAX_MS = 25_000
// A quarter of what a result may take by default: below it the hook changes nothing, and no process is started.
const LEAST_CHARS = 7_000

const ask = (event) =>
  new Promise((resolve) => {
    const parts = []
    const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"], timeout: MAX_MS })
    child.on("error", () => resolve({}))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (part) => parts.push(part))
    child.on("close", () => {
      try {
        resolve(JSON.parse(Buffer.concat(parts).toString("utf8")))
      } catch {
        resolve({})
      }
    })
    child.stdin.end(JSON.stringify(event))
  })

export const Penstock = async ({ client }) => ({
  "tool.execute.after": async (input, output) => {
    if (!output || (!output.metadata?.outputPath && JSON.stringify(output).length < LEAST_CHARS)) return
    const answer = await ask({
      hook_event_name: "tool.execute.after",
      session_id: input.sessionID,
      tool_name: input.tool,
      tool_input: input.args,
      tool_response: output,
    })
    const { systemMessage, ...changed } = answer ?? {}
    Object.assign(output, changed)
    const told = { body: { service: "penstock", level: "warn", message: systemMessage } }
    try {
      if (systemMessage) await client?.app?.log?.(told)
    } catch {
      // The result is cut; only nobody was told.
    }
  },
})
