-- A reward that looks at every call, for the bench.
function reward(episode)
  local greens = 0
  for _, turn in ipairs(episode.turns) do
    for _, call in ipairs(turn.calls) do
      local _, found = (call.facts.marks or ""):gsub("G", "")
      greens = greens + found
    end
  end
  return (episode.outcome == "solved" and 1 or 0) + 0.2 * greens, { greens = greens }
end
