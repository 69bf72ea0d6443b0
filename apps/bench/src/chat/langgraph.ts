import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Child, startChild } from '../child';

const packages = [
  '@langchain/langgraph-api@1.1.17',
  '@langchain/langgraph@1.4.13',
  '@langchain/core@1.2.13',
  '@langchain/openai@1.5.8',
];

/**
 * One node that calls the model, as in LangGraph's manual, with the same request and
 * answer as ours.
 */
const graph = `
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { ChatOpenAI } from '@langchain/openai';
const configuration = { baseURL: process.env.BENCH_MODEL_URL };
const model = new ChatOpenAI({ model: 'gpt-5-mini', apiKey: 'sk-bench', maxRetries: 0, disableStreaming: true, configuration });
const system = { role: 'system', content: 'You answer for a shop.' };
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }) => ({ messages: [await model.invoke([system, ...messages])] }))
  .addEdge('__start__', 'answer')
  .addEdge('answer', '__end__')
  .compile();
`;

/** Installs the in-memory server of LangGraph.js into a temporary folder and starts it. */
export async function startLangGraph(folder: string, modelUrl: string): Promise<Child> {
  const peerFolder = join(folder, 'langgraph');
  const options = [
    '--silent',
    '--no-fund',
    '--no-audit',
    '--ignore-scripts',
    '--prefix',
    peerFolder,
  ];
  execFileSync('npm', ['install', ...options, ...packages]);
  writeFileSync(join(peerFolder, 'agent.mjs'), graph);
  return startChild(join(__dirname, 'langgraph-child.cjs'), [peerFolder, `${modelUrl}/v1`]);
}
