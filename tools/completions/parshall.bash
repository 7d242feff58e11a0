# What is typed is bytes between spaces, and bash cuts it at = and : too.
_@NAME@() {
  local REPLY cur=${COMP_WORDS[COMP_CWORD]} path='@PROGRAM@' option='' takes='' cut='' word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    cut=''
    if [[ $word == [=:] ]]; then
      cut=$word
      [[ $word == = && ${COMP_WORDS[i - 1]} != -* ]] && cut=value
    elif [[ $word == -?* ]]; then
      option=$word
      _@NAME@_takes "$path $option"
      takes=$REPLY
    elif [[ $takes == one* ]]; then
      [[ ${COMP_WORDS[i + 1]} == [=:] || ${COMP_WORDS[i - 1]} == : ]] || takes=''
    elif [[ -z $takes ]]; then
      _@NAME@_commands "$path"
      [[ " $REPLY " == *" $word "* ]] && path+=" $word"
    fi
  done
  if [[ $cur == [=:] ]]; then
    cut=$cur cur=''
    [[ $cut == = && ${COMP_WORDS[COMP_CWORD - 1]} != -* ]] && cut=value
  fi
  if [[ $cur == -* && ($takes != one* || $cut != '=') ]]; then
    _@NAME@_options "$path"
    mapfile -t COMPREPLY < <(compgen -W "$REPLY" -- "$cur")
    return
  fi
  if [[ -z $takes ]]; then
    _@NAME@_commands "$path"
    if [[ -n $REPLY ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$REPLY" -- "$cur")
      return
    fi
    _@NAME@_words "$path"
    takes="many $REPLY"
  fi
  local known before=''
  read -ra known <<<"$takes" # how many, of what kind, and what they can be
  local values="${known[*]:2}"
  case ${known[1]-} in
    list) # the last of several between commas
      [[ $cur == *,* ]] && before=${cur%,*},
      [[ $cut == value && -z $before ]] && return
      compopt -o nospace
      mapfile -t COMPREPLY < <(compgen -P "$before" -W "$values" -- "${cur##*,}")
      ;;
    values)
      if [[ $cut == : ]]; then
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      else
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
        [[ ${COMPREPLY[0]-} == *: ]] && compopt -o nospace
      fi
      ;;
    interface) mapfile -t COMPREPLY < <(compgen -W "$(ls /sys/class/net 2>/dev/null)" -- "$cur") ;;
    file)
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      ;;
  esac
}
complete -F _@NAME@ @PROGRAM@
