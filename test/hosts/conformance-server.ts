/**
 * Our HTTP door and our server, with the tools, prompts and resources that the conformance suite calls by name. For
 * tests only.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import {
  acceptedContent,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type CallToolResult,
  type GetPromptResult,
  type InputRequiredResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { createEngine } from '../../src/engine/engine.js'
import { createClient } from '../../src/mcp/call/client.js'
import { createDoor } from '../../src/mcp/http/door.js'
import type { MakeServer } from '../../src/mcp/http/legacy-sessions.js'
import { settingsOf } from '../../src/mcp/setup/options.js'
import { hostOf } from '../../src/mcp/setup/hosts.js'
import { serverFor } from '../../src/mcp/server/server.js'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='
const image = { type: 'image', data: PNG, mimeType: 'image/png' } as const
const say = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

type Args = Record<string, unknown>
type Result = CallToolResult | InputRequiredResult
interface Fixture {
  readonly description: string
  readonly properties?: Record<string, unknown>
  call(args: Args, context: ServerContext, server: Server): Result | Promise<Result>
}

const form = (message: string, properties: Record<string, unknown>, required = Object.keys(properties)) =>
  ({ message, requestedSchema: { type: 'object', properties, required } }) as never
const ask = (message: string, properties: Record<string, unknown>) => inputRequired.elicit(form(message, properties))
const sample = (text: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens })
const NAME = { name: { type: 'string' } }

const key = randomBytes(32)
const sign = (text: string): string => `${text}.${createHmac('sha256', key).update(text).digest('hex')}`
/** The text that was signed; throws for a state that this server did not sign. */
function opened(context: ServerContext): string | null {
  const state = context.mcpReq.requestState<string>()
  if (state === undefined) return null
  const text = state.slice(0, state.lastIndexOf('.'))
  if (sign(text) !== state) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState')
  return text
}

async function elicitNow(
  server: Server,
  context: ServerContext,
  params: never,
): Promise<{ action: string; content?: unknown }> {
  return server.elicitInput(params, { relatedRequestId: context.mcpReq.id })
}

const TOOLS: Readonly<Record<string, Fixture>> = {
  test_simple_text: { description: 'text', call: () => say('This is a simple text response for testing.') },
  test_image_content: { description: 'an image', call: () => ({ content: [image] }) },
  test_audio_content: {
    description: 'a sound',
    call: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'a resource',
    call: () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    description: 'several kinds',
    call: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: '{"test":"data","value":123}',
          },
        },
      ],
    }),
  },
  test_error_handling: {
    description: 'an error',
    call: () => ({ ...say('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_tool_with_logging: {
    description: 'logs',
    call: async (_args, context) => {
      for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await context.mcpReq.log('info', line)
        await pause(50)
      }
      return say('logged')
    },
  },
  test_logging_tool: {
    description: 'logs when the request asks for it',
    call: async (_args, context) => {
      await context.mcpReq.log('info', 'one line')
      return say('logged')
    },
  },
  test_tool_with_progress: {
    description: 'progress',
    call: async (_args, context) => {
      const progressToken = context.mcpReq._meta?.progressToken
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined)
          await context.mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          })
        await pause(50)
      }
      return say('done')
    },
  },
  test_sampling: {
    description: 'asks the model',
    properties: { prompt: { type: 'string' } },
    call: async ({ prompt }, context, server) => {
      const { content } = await server.createMessage(
        { messages: [{ role: 'user', content: { type: 'text', text: String(prompt) } }], maxTokens: 100 },
        { relatedRequestId: context.mcpReq.id },
      )
      return say(`LLM response: ${JSON.stringify(content)}`)
    },
  },
  test_elicitation: {
    description: 'asks the person',
    properties: { message: { type: 'string' } },
    call: async ({ message }, context, server) => {
      const answer = await elicitNow(
        server,
        context,
        form(String(message), {
          username: { type: 'string', description: "User's response" },
          email: { type: 'string', description: "User's email address" },
        }),
      )
      return say(`User response: <action: ${answer.action}, content: ${JSON.stringify(answer.content)}>`)
    },
  },
  test_elicitation_sep1034_defaults: {
    description: 'asks with defaults',
    call: async (_args, context, server) => {
      const fields = {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }
      const answer = await elicitNow(server, context, form('Defaults', fields, []))
      return say(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`)
    },
  },
  test_elicitation_sep1330_enums: {
    description: 'asks with enums',
    call: async (_args, context, server) => {
      const titled = [
        { const: 'value1', title: 'First Option' },
        { const: 'value2', title: 'Second Option' },
        { const: 'value3', title: 'Third Option' },
      ]
      const fields = {
        untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
        titledSingle: { type: 'string', oneOf: titled },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
        titledMulti: { type: 'array', items: { anyOf: titled } },
      }
      const answer = await elicitNow(server, context, form('Enums', fields, []))
      return say(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content)}`)
    },
  },
  test_missing_capability: {
    description: 'needs sampling',
    call: (_args, context) =>
      inputResponse(context.mcpReq.inputResponses, 'x').kind === 'missing'
        ? inputRequired({ inputRequests: { x: sample('hi', 10) } })
        : say('ok'),
  },
  test_streaming_elicitation: {
    description: 'streams, then asks',
    call: (_args, context) =>
      acceptedContent(context.mcpReq.inputResponses, 'x')
        ? say('ok')
        : inputRequired({ inputRequests: { x: ask('?', NAME) } }),
  },
  test_input_required_result_elicitation: {
    description: 'asks for a name',
    call: (_args, context) => {
      const given = acceptedContent<{ name?: unknown }>(context.mcpReq.inputResponses, 'user_name')
      return typeof given?.name === 'string'
        ? say(`Hello, ${given.name}!`)
        : inputRequired({ inputRequests: { user_name: ask('What is your name?', NAME) } })
    },
  },
  test_input_required_result_sampling: {
    description: 'asks the model',
    call: (_args, context) => {
      const given = inputResponse(context.mcpReq.inputResponses, 'capital_question')
      return given.kind === 'sampling'
        ? say(JSON.stringify(given.result.content))
        : inputRequired({ inputRequests: { capital_question: sample('What is the capital of France?', 100) } })
    },
  },
  test_input_required_result_list_roots: {
    description: 'asks for roots',
    call: (_args, context) => {
      const given = inputResponse(context.mcpReq.inputResponses, 'client_roots')
      return given.kind === 'roots'
        ? say(JSON.stringify(given.roots))
        : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
    },
  },
  test_input_required_result_request_state: {
    description: 'keeps a state',
    call: (_args, context) =>
      opened(context) === 'state'
        ? say('state-ok')
        : inputRequired({
            inputRequests: { confirm: ask('Please confirm', { ok: { type: 'boolean' } }) },
            requestState: sign('state'),
          }),
  },
  test_input_required_result_tampered_state: {
    description: 'keeps a state',
    call: (_args, context) =>
      opened(context) === 'sealed'
        ? say('state-ok')
        : inputRequired({
            inputRequests: { confirm: ask('Please confirm', { ok: { type: 'boolean' } }) },
            requestState: sign('sealed'),
          }),
  },
  test_input_required_result_multiple_inputs: {
    description: 'asks for three things',
    call: (_args, context) => {
      const keys = ['user_name', 'greeting', 'client_roots']
      if (
        opened(context) === 'three' &&
        keys.every((one) => inputResponse(context.mcpReq.inputResponses, one).kind !== 'missing')
      )
        return say('all three')
      return inputRequired({
        inputRequests: {
          user_name: ask('What is your name?', NAME),
          greeting: sample('Generate a greeting', 50),
          client_roots: inputRequired.listRoots(),
        },
        requestState: sign('three'),
      })
    },
  },
  test_input_required_result_multi_round: {
    description: 'asks twice',
    call: (_args, context) => {
      const step = opened(context)
      if (step === 'two') return say('both steps')
      if (step === 'one')
        return inputRequired({
          inputRequests: { step2: ask('Step 2: What is your favorite color?', { color: { type: 'string' } }) },
          requestState: sign('two'),
        })
      return inputRequired({
        inputRequests: { step1: ask('Step 1: What is your name?', NAME) },
        requestState: sign('one'),
      })
    },
  },
  test_input_required_result_capabilities: {
    description: 'asks only for what the client can do',
    call: (_args, context) => {
      const envelope = context.mcpReq.envelope as
        | Record<string, { elicitation?: object; sampling?: object } | undefined>
        | undefined
      const can = envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {}
      const inputRequests = {
        ...(can.elicitation ? { name: ask('What is your name?', NAME) } : {}),
        ...(can.sampling ? { greeting: sample('Hello', 10) } : {}),
      }
      return Object.keys(inputRequests).length === 0 || context.mcpReq.inputResponses
        ? say('done')
        : inputRequired({ inputRequests })
    },
  },
}

const user = (content: object) => ({ role: 'user' as const, content }) as GetPromptResult['messages'][number]
const PROMPTS: Readonly<
  Record<string, { args: string[]; get(args: Args, context: ServerContext): GetPromptResult | InputRequiredResult }>
> = {
  test_simple_prompt: {
    args: [],
    get: () => ({ messages: [user({ type: 'text', text: 'This is a simple prompt for testing.' })] }),
  },
  test_prompt_with_arguments: {
    args: ['arg1', 'arg2'],
    get: ({ arg1, arg2 }) => ({
      messages: [user({ type: 'text', text: `Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'` })],
    }),
  },
  test_prompt_with_embedded_resource: {
    args: ['resourceUri'],
    get: ({ resourceUri }) => ({
      messages: [
        user({
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        user({ type: 'text', text: 'Please process the embedded resource above.' }),
      ],
    }),
  },
  test_prompt_with_image: {
    args: [],
    get: () => ({ messages: [user(image), user({ type: 'text', text: 'Please analyze the image above.' })] }),
  },
  test_input_required_result_prompt: {
    args: [],
    get: (_args, context) => {
      const given = acceptedContent<{ context?: string }>(context.mcpReq.inputResponses, 'user_context')
      return given
        ? { messages: [user({ type: 'text', text: String(given.context) })] }
        : inputRequired({
            inputRequests: {
              user_context: ask('What context should the prompt use?', { context: { type: 'string' } }),
            },
          })
    },
  },
}

const make: MakeServer = (client, connection) => {
  const server = serverFor(client, connection)
  server.registerCapabilities({ prompts: {}, completions: {}, logging: {} })
  const { _requestHandlers: handlers } = server as unknown as {
    _requestHandlers: Map<string, (request: never, context: never) => Promise<never>>
  }
  const ours = { call: handlers.get('tools/call')!, read: handlers.get('resources/read')! }
  server.setRequestHandler('tools/list', () => ({
    tools: [
      ...client.listed(hostOf(undefined)),
      ...Object.entries(TOOLS).map(([name, { description, properties = {} }]) => ({
        name,
        description,
        inputSchema: { type: 'object' as const, properties: properties as never },
      })),
    ],
  }))
  server.setRequestHandler('tools/call', (request, context) => {
    const fixture = TOOLS[request.params.name]
    return fixture
      ? fixture.call(request.params.arguments ?? {}, context, server)
      : ours.call(request as never, context as never)
  })
  server.setRequestHandler('resources/list', () => ({
    resources: [
      { uri: 'test://static-text', name: 'static-text', description: 'text', mimeType: 'text/plain' },
      { uri: 'test://static-binary', name: 'static-binary', description: 'bytes', mimeType: 'image/png' },
      { uri: 'test://watched-resource', name: 'watched-resource', description: 'watched', mimeType: 'text/plain' },
    ],
  }))
  server.setRequestHandler('resources/read', (request, context) => {
    const { uri } = request.params
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
    if (uri === 'test://static-text')
      return { contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }] }
    if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] }
    if (id !== undefined)
      return {
        contents: [
          {
            uri,
            mimeType: 'application/json',
            text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
          },
        ],
      }
    if (uri.startsWith('test://')) throw new ResourceNotFoundError(uri)
    return ours.read(request as never, context as never)
  })
  if (connection.era === 'legacy') {
    server.setRequestHandler('resources/subscribe', () => ({}))
    server.setRequestHandler('resources/unsubscribe', () => ({}))
  }
  server.setRequestHandler('prompts/list', () => ({
    prompts: Object.entries(PROMPTS).map(([name, { args }]) => ({
      name,
      description: name,
      arguments: args.map((one) => ({ name: one, required: true })),
    })),
  }))
  server.setRequestHandler('prompts/get', (request, context) => {
    const prompt = PROMPTS[request.params.name]
    if (!prompt) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such prompt')
    return prompt.get(request.params.arguments ?? {}, context)
  })
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: ['paris', 'park', 'party'], total: 3, hasMore: false },
  }))
  return server
}

const engine = await createEngine({ stateDir: process.argv[2]! })
const client = createClient(engine, settingsOf({ log: () => {} }))
const token = 'x'.repeat(43)
const door = createDoor({
  hostnames: [],
  maxBodyBytes: 4 * 1_048_576,
  tokens: new Map([['default', token]]),
  clientNamed: () => client,
  log: () => {},
  make,
})
// The suite cannot send a token; everything else about the door is as it is for users.
door.http.prependListener('request', (incoming) => {
  incoming.headers.authorization = `Bearer ${token}`
})
door.http.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(door.http.address() as AddressInfo).port}/mcp`))
process.on('SIGTERM', () => void Promise.all([door.close(), engine.close()]).then(() => process.exit(0)))
