-- An object without its masked fields. "masks" has one member for each masked field: "hide", "redact", or
-- { "array": "hide" | "redact", "fields": masks } where the masks lie deeper. "array" is what happens to a field that
-- turns out to be an array, since its elements cannot be told apart. One pass over the object, whatever the number of masks.
-- The result is json, since jsonb_object_agg takes a time that is quadratic in the size of the object.
-- The function calls itself, so its body cannot be checked before it exists.
SET check_function_bodies = off;
CREATE FUNCTION "masked_fields"("object" jsonb, "masks" jsonb) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(json_object_agg(f.key, CASE
    WHEN m.mask IS NULL THEN f.value::json
    WHEN m.mask = '"redact"' OR jsonb_typeof(f.value) = 'array' THEN '"[redacted]"'
    WHEN jsonb_typeof(f.value) = 'object' THEN masked_fields(f.value, m.mask -> 'fields')
    ELSE f.value::json END), '{}')
  FROM jsonb_each(object) f CROSS JOIN LATERAL (SELECT masks -> f.key AS mask) m
  WHERE m.mask IS DISTINCT FROM '"hide"'
    AND NOT (jsonb_typeof(f.value) = 'array' AND coalesce(m.mask ->> 'array', '') = 'hide')
$$;
RESET check_function_bodies;
