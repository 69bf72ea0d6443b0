import type { JsonObject } from '@parley/client';
import { ownValue } from '@parley/rows';
import { type ReactNode, useId } from 'react';
import { useAgents } from '../../api/queries';
import { useTexts } from '../../i18n';
import { Choice, Field } from '../../parts/controls';
import { JsonField } from '../../parts/json-field';
import { type Param, modelName } from '../build/definitions';
import { type ParamProblem, type Typed, free, textOf } from './params';
import { playgroundCatalog } from './texts';

interface OptionsProps {
  declared: readonly Param[];
  typed: Typed;
  onType: (name: string, text: string) => void;
  /** The params of the thread, which hold until others are typed. */
  ofThread: JsonObject;
  problems: readonly ParamProblem[];
  isRouter: boolean;
  phoneNumber: string;
  onPhoneNumber: (text: string) => void;
  model: string;
  onModel: (text: string) => void;
}

/** The params of the conversation, and another model for the next message. */
export function Options({
  declared,
  typed,
  onType,
  ofThread,
  problems,
  isRouter,
  ...more
}: OptionsProps) {
  const texts = useTexts(playgroundCatalog);
  const problemOf = useProblems();
  const errorOf = (name: string) => {
    const problem = problems.find((one) => one.name === name && one.kind !== 'required');
    return problem && problemOf(problem);
  };
  return (
    <div className="grid max-h-[40dvh] gap-3 overflow-auto p-0.5 sm:grid-cols-2">
      {declared.map((param) => (
        <ParamField
          key={param.name}
          param={param}
          value={ownValue(typed, param.name) ?? textOf(ownValue(ofThread, param.name))}
          error={errorOf(param.name)}
          onChange={(text) => onType(param.name, text)}
        />
      ))}
      {declared.length === 0 && (
        <div className="sm:col-span-2">
          <JsonField
            label={texts.freeParams}
            hint={texts.paramsHint}
            error={errorOf(free)}
            rows={3}
            maxLength={100_000}
            placeholder="{}"
            value={
              typed[free] ??
              (Object.keys(ofThread).length > 0 ? JSON.stringify(ofThread, null, 2) : '')
            }
            onChange={({ target }) => onType(free, target.value)}
          />
        </div>
      )}
      {isRouter && (
        <Field
          label={texts.phone}
          hint={texts.phoneHint}
          type="tel"
          maxLength={64}
          value={more.phoneNumber}
          onChange={({ target }) => more.onPhoneNumber(target.value)}
        />
      )}
      <ModelField value={more.model} onChange={more.onModel} />
    </div>
  );
}

/** A problem of a param as a sentence. */
export function useProblems() {
  const texts = useTexts(playgroundCatalog);
  return ({ name, kind }: ParamProblem): string => {
    const shown = name === free ? texts.freeParams : name;
    return { required: texts.isRequired, number: texts.notNumber, object: texts.notObject }[kind](
      shown,
    );
  };
}

function ParamField({
  param: { name, type, required, description },
  value,
  error,
  onChange,
}: {
  param: Param;
  value: string;
  error: string | undefined;
  onChange: (text: string) => void;
}): ReactNode {
  const texts = useTexts(playgroundCatalog);
  const label = required ? `${name} *` : name;
  if (type === 'boolean')
    return (
      <div>
        <span className="mb-1 block text-n11">{label}</span>
        <Choice
          label={name}
          value={value}
          onChange={({ target }) => onChange(target.value)}
          options={[
            ['', texts.notSet],
            ['true', texts.yes],
            ['false', texts.no],
          ]}
        />
        {description && <p className="mt-1 text-xs text-n10">{description}</p>}
      </div>
    );
  if (type === 'object')
    return (
      <JsonField
        label={label}
        hint={description}
        error={error}
        rows={2}
        maxLength={100_000}
        placeholder="{}"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  return (
    <Field
      label={label}
      hint={description}
      error={error}
      inputMode={type === 'number' ? 'decimal' : undefined}
      maxLength={10_000}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}

/** Any model; those of the agents are offered. */
function ModelField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const texts = useTexts(playgroundCatalog);
  const id = useId();
  const known = useAgents().items.flatMap(({ model }) => [
    modelName(model),
    ...((typeof model === 'object' && model.fallbacks) || []),
  ]);
  return (
    <div>
      <Field
        label={texts.modelOnce}
        hint={texts.modelHint}
        list={id}
        placeholder="openai/gpt-5-mini"
        spellCheck={false}
        autoCapitalize="off"
        maxLength={200}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <datalist id={id}>
        {[...new Set(known)].map(
          (name) => name !== undefined && <option key={name} value={name} />,
        )}
      </datalist>
    </div>
  );
}
