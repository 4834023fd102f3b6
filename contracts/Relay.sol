// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {IRelay} from "./interfaces/IRelay.sol";

/// @title Relay
/// @notice See {IRelay}.
contract Relay is IRelay, Ownable2Step, Pausable, ReentrancyGuardTransient {
    /// @notice Gas that must remain beside a call's limit before the call is made. It pays for what surrounds the call
    /// (at most two bitmap words written and one read, the first touch of the target, the failure event) and for the
    /// end of the batch. Generous on purpose: too much only stops a batch a little earlier, and what was not reached
    /// runs later.
    uint256 public constant GAS_RESERVE = 80_000;

    /// @notice The longest failure reason that is copied into an event.
    uint256 public constant MAX_REASON_LENGTH = 256;

    /// @dev No number has this bucket: buckets are numbers shifted right by 8.
    uint256 private constant _NO_BUCKET = type(uint256).max;

    /// @dev 256 numbers a word, so that neighbouring numbers share one storage write.
    mapping(uint256 bucket => uint256 word) private _consumed;

    mapping(address account => bool) private _operators;

    /// @param initialOwner The account that administers the relay.
    constructor(address initialOwner) Ownable(initialOwner) {}

    /// @inheritdoc IRelay
    function execute(Call[] calldata calls) external nonReentrant whenNotPaused returns (uint256 executed) {
        if (!_operators[msg.sender]) revert RelayUnauthorizedOperator(msg.sender);

        // The current bitmap word lives on the stack while its numbers last. Nothing else can write it meanwhile: every
        // function that consumes numbers is guarded against re-entry.
        uint256 bucket = _NO_BUCKET;
        uint256 word;

        for (; executed < calls.length; ++executed) {
            Call calldata item = calls[executed];
            bytes calldata data = item.data;
            uint256 gasLimit = item.gasLimit;
            if (gasleft() < _gasNeeded(gasLimit, data.length)) break;

            uint256 number = item.number;
            if (number >> 8 != bucket) {
                if (bucket != _NO_BUCKET) _consumed[bucket] = word;
                bucket = number >> 8;
                word = _consumed[bucket];
            }
            uint256 bit = 1 << (number & 0xff);
            if (word & bit != 0) {
                emit CallSkipped(number);
                continue;
            }
            word |= bit;
            _run(number, item.target, gasLimit, data);
        }

        if (bucket != _NO_BUCKET) _consumed[bucket] = word;
        emit BatchExecuted(executed);
    }

    /// @inheritdoc IRelay
    function cancel(uint256[] calldata numbers) external nonReentrant {
        if (!_operators[msg.sender] && msg.sender != owner()) revert RelayUnauthorizedOperator(msg.sender);
        for (uint256 i = 0; i < numbers.length; ++i) {
            uint256 number = numbers[i];
            if (isConsumed(number)) continue;
            _consumed[number >> 8] |= 1 << (number & 0xff);
            emit NumberCancelled(number);
        }
    }

    /// @inheritdoc IRelay
    function setOperator(address operator, bool allowed) external onlyOwner {
        _operators[operator] = allowed;
        emit OperatorSet(operator, allowed);
    }

    /// @inheritdoc IRelay
    function pause() external onlyOwner {
        _pause();
    }

    /// @inheritdoc IRelay
    function unpause() external onlyOwner {
        _unpause();
    }

    /// @inheritdoc IRelay
    function isOperator(address account) external view returns (bool) {
        return _operators[account];
    }

    /// @inheritdoc IRelay
    function executing() external view returns (bool) {
        return _reentrancyGuardEntered();
    }

    /// @notice Always reverts: without an owner nobody could remove a stolen operator key.
    function renounceOwnership() public view override onlyOwner {
        revert RelayOwnershipRequired();
    }

    /// @inheritdoc IRelay
    function isConsumed(uint256 number) public view returns (bool) {
        return _consumed[number >> 8] & (1 << (number & 0xff)) != 0;
    }

    /// @inheritdoc IRelay
    function owner() public view override(IRelay, Ownable) returns (address) {
        return super.owner();
    }

    /// @dev The gas that must be left before an item is touched. `gasLimit / 63` is the 64th that the relay keeps back
    /// when it calls. Copying costs 6 gas a word and the square of the words over 512, together less than 2 gas a byte
    /// for any data that fits into a transaction. Virtual only for a test of what happens when this estimate is wrong.
    function _gasNeeded(uint256 gasLimit, uint256 dataLength) internal pure virtual returns (uint256) {
        unchecked {
            // Cannot overflow: the limit is below 2^32 and the length is bounded by the calldata.
            return gasLimit + gasLimit / 63 + GAS_RESERVE + 2 * dataLength;
        }
    }

    /// @dev Runs one call whose number was just consumed, and reports a failure.
    function _run(uint256 number, address target, uint256 gasLimit, bytes calldata data) private {
        if (data.length < 4) {
            emit CallFailed(number, abi.encodeWithSelector(RelayDataTooShort.selector, data.length));
            return;
        }
        if (target.code.length == 0 || target == address(this)) {
            emit CallFailed(number, abi.encodeWithSelector(RelayInvalidTarget.selector, target));
            return;
        }
        if (_call(number, target, gasLimit, data)) return;

        // A call that ran out of gas because it got less than its limit leaves less than a 63rd of the limit behind: a
        // caller keeps a 64th of what it has. The check before the call excludes this unless a fork changes prices.
        if (gasleft() < gasLimit / 63) revert RelayCallStarved(number, gasLimit);
        emit CallFailed(number, _reason());
    }

    /// @dev Calls `target` with `data` and the number behind it as `suffix`. Assembly, because Solidity's own call
    /// copies all returned data into memory, and a target that returns a megabyte would use up the gas of the whole
    /// batch.
    function _call(
        uint256 suffix,
        address target,
        uint256 gasLimit,
        bytes calldata data
    ) private returns (bool success) {
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            // Scratch space behind the free memory pointer, used again by the next call.
            let input := mload(0x40)
            calldatacopy(input, data.offset, data.length)
            mstore(add(input, data.length), suffix)
            success := call(gasLimit, target, 0, input, add(data.length, 0x20), 0, 0)
        }
    }

    /// @dev The revert data of the last call, cut. Assembly for the same reason as {_call}.
    function _reason() private pure returns (bytes memory reason) {
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            let length := returndatasize()
            if gt(length, MAX_REASON_LENGTH) {
                length := MAX_REASON_LENGTH
            }
            reason := mload(0x40)
            mstore(reason, length)
            returndatacopy(add(reason, 0x20), 0, length)
            mstore(0x40, add(reason, and(add(length, 0x3f), not(0x1f))))
        }
    }
}
